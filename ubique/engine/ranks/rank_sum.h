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
#include "ubique/engine/ranks/gradient_exchange.h"
#include "ubique/engine/step/gradient_accumulation.h"
#include "ubique/engine/step/nonfinite.h"
#include "ubique/engine/step/statistics_record.h"

namespace ubique::engine {

/// In which order gradients are added up.
enum class SumOrder {
  MicroBatches,  ///< as one process would: each micro-batch is exchanged, but rank 0 adds up its
                 ///< own
  Ranks,         ///< each rank adds up its own first: one copy, other last digits
};

class RankSum {
 public:
  /// `statistics` are the network's running statistics.
  RankSum(const dist::World& world, const NamedTensors& parameters, NamedTensors statistics);

  /// All ranks. For an update of so many micro-batches on each rank at most: their copies of the
  /// gradients may take some memory, beyond which the order is that of ranks.
  void choose_order(std::int64_t micro_batches);
  SumOrder order() const { return order_; }

  void begin();
  /// All ranks: the weight that the first micro-batch of the update has which has any, given this
  /// rank's first (0: none). Losses are scaled by their weight over it. From here on gradients are
  /// exchanged while micro-batches are computed, of which this rank will add so many.
  double agree_on_weight(double mine, std::int64_t micro_batches);
  /// Of each rank in this update, as agreed.
  const std::vector<std::int64_t>& micro_batches() const { return micro_batches_; }
  /// The passes of a micro-batch of this rank.
  void add(GradientAccumulation& sum, const Batch& batch);
  /// All ranks: tells what was computed here, with `news` for the caller; gets everybody's news.
  std::vector<Json> share(const Json& news);
  /// All ranks, after share(): everything becomes what it is over all micro-batches. `before` has
  /// the statistics from before the update.
  void reduce(GradientAccumulation& sum, const StatisticsBackup& before);

 private:
  void start_exchange(const std::vector<std::int64_t>& micro_batches);
  Json describe(const PartSums& part, const std::vector<StatisticsChange>& changes) const;
  void apply_changes(const Json& part) const;

  const dist::World& world_;
  NamedTensors parameters_, statistics_;
  GradientExchange exchange_;
  SumOrder order_ = SumOrder::MicroBatches;
  std::vector<std::int64_t> micro_batches_;
  std::int64_t to_add_ = 0;               // micro-batches of this rank
  bool adds_up_own_ = false;              // this rank, before it exchanges them
  Json parts_;                            // of this rank
  std::vector<Json> shared_, gradients_;  // of all ranks: parts, news of gradients
};

}  // namespace ubique::engine
