// SPDX-License-Identifier: Apache-2.0
// Training batches in order, prepared ahead of time by the plan's threads. The order and each
// sample's randomness depend on the seed and the place in the data alone, so a run can go on from
// anywhere, in pieces of any size.
#pragma once

#include <cstdint>
#include <memory>

#include "ubique/data/prefetch.h"
#include "ubique/data/sampler.h"
#include "ubique/engine/contract/dataset.h"
#include "ubique/plan/plan.h"

namespace ubique::engine {

struct LoadedPiece {
  data::MicroBatch piece;
  Batch batch;  ///< on the host, pinned if the plan says so
};

class Loader {
 public:
  /// From `start` on, for `updates` updates, in pieces of the plan's micro-batch.
  Loader(const Dataset& dataset, data::Sampler sampler, const plan::Plan& plan, std::uint64_t seed,
         data::Cursor start, std::int64_t updates);

  /// An error of the dataset comes out in its turn and names the samples.
  LoadedPiece next();

 private:
  std::unique_ptr<data::Prefetch<LoadedPiece>> prefetch_;
};

/// One batch, here and now.
LoadedPiece load_piece(const Dataset& dataset, data::MicroBatch piece, std::uint64_t seed,
                       bool pinned);

}  // namespace ubique::engine
