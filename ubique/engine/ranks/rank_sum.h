// SPDX-License-Identifier: Apache-2.0
// One update whose micro-batches several processes compute: gradients, losses, metrics and running
// statistics become those of all of them, added up in the order of the micro-batches. So they have
// the bits that one process gets.
#pragma once

#include <string>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/dist/world.h"
#include "ubique/engine/contract/batch.h"
#include "ubique/engine/ranks/flat_gradients.h"
#include "ubique/engine/step/gradient_accumulation.h"
#include "ubique/engine/step/nonfinite.h"
#include "ubique/engine/step/statistics_record.h"

namespace ubique::engine {

/// In which order gradients are added up.
enum class SumOrder {
  MicroBatches,  ///< as one process would: each rank keeps one copy for each of its micro-batches
  Ranks,         ///< each rank adds up its own first: one copy, other last digits
};

class RankSum {
 public:
  /// `statistics` are the network's running statistics.
  RankSum(const dist::World& world, const NamedTensors& parameters, NamedTensors statistics);

  /// For an update of so many micro-batches on each rank at most: their copies of the gradients may
  /// take some memory, beyond which the order is that of ranks.
  void choose_order(std::int64_t micro_batches);
  SumOrder order() const { return order_; }

  void begin();
  /// All ranks: the weight that the first micro-batch of the update has which has any, given this
  /// rank's first (0: none). Losses are scaled by their weight over it.
  double agree_on_weight(double mine) const;
  /// The passes of a micro-batch of this rank.
  void add(GradientAccumulation& sum, const Batch& batch);
  /// All ranks: tells what was computed here, with `news` for the caller; gets everybody's news.
  std::vector<Json> share(const Json& news);
  /// All ranks, after share(): everything becomes what it is over all micro-batches. `before` has
  /// the statistics from before the update.
  void reduce(GradientAccumulation& sum, const StatisticsBackup& before);

 private:
  Json describe(const PartSums& part, const std::vector<StatisticsChange>& changes) const;
  void apply_changes(const Json& part) const;

  const dist::World& world_;
  NamedTensors parameters_, statistics_;
  FlatGradients flat_;
  SumOrder order_ = SumOrder::MicroBatches;
  std::vector<std::vector<at::Tensor>> rows_;  // of this rank's micro-batches, by group
  std::string present_;                        // gradients that any micro-batch of this rank had
  Json parts_;                                 // of this rank
  std::vector<Json> shared_;                   // of all ranks
};

}  // namespace ubique::engine
