// SPDX-License-Identifier: Apache-2.0
// Puzzles as training batches, in the original's order for a seed. The minimum steps of halting
// exploration are drawn here, on the host, so that a seed gives the same ones on every device.
#pragma once

#include <memory>

#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/engine/contract/dataset.h"
#include "ubique/models/trm/net/config.h"

namespace ubique::trm {

struct DatasetOptions {
  std::uint64_t seed = 0;
  std::int64_t passes = 1;  ///< over the groups of puzzles in one epoch of the engine
  bool augment = false;     ///< every draw is a random symmetric variant of the puzzle
  std::int64_t halt_max_steps = 16;
  double halt_exploration_prob = 0.1;
};

class PuzzleDataset final : public engine::Dataset {
 public:
  PuzzleDataset(std::shared_ptr<const data::PuzzleSet> set, const DatasetOptions& options);

  std::int64_t size() const override { return set_->examples(); }
  /// Tensors as TrmModel::step() takes them.
  engine::Batch load(const std::vector<std::int64_t>& indices,
                     const engine::SampleRandoms& randoms) const override;
  /// Batches are full; the remainder of the last pass is dropped. Usage error if all passes do not
  /// fill one batch.
  std::int64_t epoch_samples(std::int64_t per_update) const override;
  std::vector<std::int64_t> order(std::int64_t epoch, std::int64_t per_update,
                                  const Random& random) const override;
  std::string fingerprint() const override;

  const data::PuzzleSet& set() const { return *set_; }

 private:
  std::shared_ptr<const data::PuzzleSet> set_;
  DatasetOptions options_;
};

/// `limit` of `count` examples, spread evenly; 0 = all.
std::vector<std::int64_t> spread_examples(std::int64_t count, std::int64_t limit);

/// Tokens, labels and ids of these examples, i32, on the host: "inputs", "labels" (B, S),
/// "puzzle_identifiers" (B).
engine::Batch puzzle_batch(const data::PuzzleSet& set, const std::vector<std::int64_t>& examples);

/// Input error if the network cannot take these puzzles: their length, tokens or ids.
void check_fits(const data::PuzzleSet& set, const TrmConfig& config, const std::string& where);

}  // namespace ubique::trm
