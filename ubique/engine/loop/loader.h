// SPDX-License-Identifier: Apache-2.0
// Training batches in order, prefetched by the plan's threads. The order and each sample's random
// numbers depend only on the seed and the position in the data, so a run can resume anywhere and
// with any micro-batch size.
#pragma once

#include <cstdint>
#include <memory>

#include "ubique/data/prefetch.h"
#include "ubique/data/sampler.h"
#include "ubique/engine/contract/dataset.h"
#include "ubique/engine/ranks/shard.h"
#include "ubique/plan/plan.h"

namespace ubique::engine {

struct LoadedBatch {
  data::MicroBatch micro_batch;
  Batch batch;  ///< on the host, pinned if the plan says so
};

class Loader {
 public:
  /// Loads `updates` updates from `start` on, in micro-batches of the plan's size; those of one
  /// rank if `shard` says so.
  Loader(const Dataset& dataset, data::Sampler sampler, const plan::Plan& plan, std::uint64_t seed,
         data::Cursor start, std::int64_t updates, const Shard& shard = {});

  /// An error of the dataset is thrown when its batch is due, and names the samples.
  LoadedBatch next();

 private:
  std::unique_ptr<data::Prefetch<LoadedBatch>> prefetch_;
};

/// Loads one batch in this thread.
LoadedBatch load_batch(const Dataset& dataset, data::MicroBatch micro_batch, std::uint64_t seed,
                       bool pinned);

}  // namespace ubique::engine
