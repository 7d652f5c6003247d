// SPDX-License-Identifier: Apache-2.0
// Which samples make which update: a new order every epoch. It does not load anything.
// The order does not depend on how many samples go through the network at once.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ubique/base/numbers/random.h"

namespace ubique::data {

/// A place in the training data: the next update to make.
struct Cursor {
  std::int64_t epoch = 0;
  std::int64_t update = 0;  ///< within the epoch

  bool operator==(const Cursor&) const = default;
};

/// Samples that go through the network at once.
struct Piece {
  Cursor cursor;                      ///< the update it belongs to
  std::int64_t part = 0, parts = 1;   ///< of that update
  std::int64_t place = 0;             ///< of its first sample in the epoch's order
  std::int64_t first = 0;             ///< the same within the update
  std::vector<std::int64_t> indices;  ///< samples of the dataset
};

class Sampler {
 public:
  /// The samples of an epoch, always as many.
  using Order = std::function<std::vector<std::int64_t>(std::int64_t epoch)>;

  /// Input error for an empty set.
  Sampler(std::int64_t samples, std::int64_t per_update, Order order);
  /// All samples, shuffled anew for each epoch by order.fork(epoch).
  Sampler(std::int64_t samples, std::int64_t per_update, Random order);

  std::int64_t samples() const { return samples_; }
  /// The last one of an epoch takes the samples that are left.
  std::int64_t updates_per_epoch() const;
  /// Samples of this update, cut into pieces of `at_once` (the last one may be shorter).
  std::vector<Piece> pieces(Cursor cursor, std::int64_t at_once);
  Cursor after(Cursor cursor) const;

 private:
  std::int64_t samples_, per_update_;
  Order order_;
  std::int64_t known_epoch_ = -1;
  std::vector<std::int64_t> known_order_;  // of known_epoch_
};

}  // namespace ubique::data
