// SPDX-License-Identifier: Apache-2.0
// Orders of epochs, cut into updates and micro-batches.
#include "ubique/data/sampler.h"

#include <algorithm>
#include <utility>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

std::int64_t ceil_divide(std::int64_t whole, std::int64_t size) {
  return (whole + size - 1) / size;
}

}  // namespace

Sampler::Sampler(std::int64_t samples, std::int64_t per_update, Random order)
    : Sampler(samples, per_update, [samples, order](std::int64_t epoch) {
        return order.fork(static_cast<std::uint64_t>(epoch)).permutation(samples);
      }) {}

Sampler::Sampler(std::int64_t samples, std::int64_t per_update, Order order)
    : samples_(samples), per_update_(per_update), order_(std::move(order)) {
  check(samples > 0, ErrorKind::Input,
        "[data.sampler] the training set is empty; got {} samples, expected at least 1.", samples);
  check(per_update > 0, ErrorKind::Internal, "[data.sampler] updates of {} samples.", per_update);
}

std::int64_t Sampler::updates_per_epoch() const { return ceil_divide(samples_, per_update_); }

std::vector<MicroBatch> Sampler::micro_batches(Cursor cursor, std::int64_t size) {
  if (cursor.epoch != known_epoch_) {
    known_order_ = order_(cursor.epoch);
    known_epoch_ = cursor.epoch;
    check(static_cast<std::int64_t>(known_order_.size()) == samples_, ErrorKind::Internal,
          "[data.sampler] an epoch of {} samples, expected {}.", known_order_.size(), samples_);
  }
  const auto begin = cursor.update * per_update_;
  const auto end = std::min(begin + per_update_, samples_);
  std::vector<MicroBatch> batches;
  for (auto position = begin; position < end; position += size) {
    const auto first = known_order_.begin() + position;
    const auto last = known_order_.begin() + std::min(position + size, end);
    batches.push_back({.cursor = cursor,
                       .part = static_cast<std::int64_t>(batches.size()),
                       .parts = ceil_divide(end - begin, size),
                       .position = position,
                       .first = position - begin,
                       .indices = {first, last}});
  }
  return batches;
}

Cursor Sampler::after(Cursor cursor) const {
  ++cursor.update;
  return cursor.update < updates_per_epoch() ? cursor : Cursor{cursor.epoch + 1, 0};
}

}  // namespace ubique::data
