// SPDX-License-Identifier: Apache-2.0
// Puzzles as training batches, in the original's order for a seed. What exploration demands of a
// slot is drawn here, on the host, so that one seed gives the same halts on every device.
#pragma once

#include <memory>

#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/engine/contract/dataset.h"
#include "ubique/models/trm/net/config.h"

namespace ubique::trm {

struct DatasetOptions {
  std::uint64_t seed = 0;
  std::int64_t passes = 1;  ///< through the groups of puzzles in one of the engine's epochs
  bool augment = false;     ///< every draw is turned into a twin of itself
  std::int64_t halt_max_steps = 16;
  double halt_exploration_prob = 0.1;
};

class PuzzleDataset final : public engine::Dataset {
 public:
  PuzzleDataset(std::shared_ptr<const data::PuzzleSet> set, const DatasetOptions& options);

  std::int64_t size() const override { return set_->examples(); }
  /// What TrmModel::step takes.
  engine::Batch load(const std::vector<std::int64_t>& indices,
                     const engine::SampleRandoms& randoms) const override;
  /// All batches are whole; what is left of the last pass is dropped. Usage error if a batch is
  /// more than all passes have.
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
