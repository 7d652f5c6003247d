// SPDX-License-Identifier: Apache-2.0
// Assigns samples to optimizer updates, in a new order every epoch, and cuts updates into
// micro-batches. The order does not depend on the micro-batch size. Loads nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ubique/base/numbers/random.h"

namespace ubique::data {

/// A position in the training: the next update.
struct Cursor {
  std::int64_t epoch = 0;
  std::int64_t update = 0;  ///< within the epoch

  bool operator==(const Cursor&) const = default;
};

/// Samples of one forward and backward pass.
struct MicroBatch {
  Cursor cursor;                      ///< the update it belongs to
  std::int64_t part = 0, parts = 1;   ///< its index in the update, and their number
  std::int64_t position = 0;          ///< of its first sample in the epoch's order
  std::int64_t first = 0;             ///< position of its first sample within the update
  std::vector<std::int64_t> indices;  ///< samples of the dataset
};

class Sampler {
 public:
  /// The samples of an epoch, in order; every epoch has the same number.
  using Order = std::function<std::vector<std::int64_t>(std::int64_t epoch)>;

  /// Input error for an empty training set.
  Sampler(std::int64_t samples, std::int64_t per_update, Order order);
  /// All samples, reshuffled for each epoch by order.fork(epoch).
  Sampler(std::int64_t samples, std::int64_t per_update, Random order);

  std::int64_t samples() const { return samples_; }
  /// The last update of an epoch takes the remaining samples.
  std::int64_t updates_per_epoch() const;
  /// Samples of this update in micro-batches of `size` (the last one may be smaller).
  std::vector<MicroBatch> micro_batches(Cursor cursor, std::int64_t size);
  Cursor after(Cursor cursor) const;

 private:
  std::int64_t samples_, per_update_;
  Order order_;
  std::int64_t known_epoch_ = -1;
  std::vector<std::int64_t> known_order_;  // of known_epoch_
};

}  // namespace ubique::data
