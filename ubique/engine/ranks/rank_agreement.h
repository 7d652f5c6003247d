// SPDX-License-Identifier: Apache-2.0
// Are the ranks of a run alike? Compared before the first update and, by their weights, later.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ubique/dist/world.h"
#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

struct RankFacts {
  std::string version, device, dtype, shard;
  std::string configuration;  ///< the text of run.yaml
  std::string data;           ///< fingerprint of the training set
  std::int64_t samples = 0, micro_batch = 0;
  bool resumes = false;
};

/// Of all ranks, in their order.
std::vector<RankFacts> gather_facts(const dist::World& world, const RankFacts& mine);

/// Usage error that names the first rank which differs from rank 0, and in what.
void check_alike(const std::vector<RankFacts>& ranks);

/// Device error that names the ranks whose weights differ from those of most; `step` is the update
/// before which they were compared. No digests: nothing to compare.
void check_same_weights(const std::vector<std::string>& digests, std::int64_t step);

Scores scores_from_first(const dist::World& world, const Scores& mine);

}  // namespace ubique::engine
