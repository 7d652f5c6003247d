// SPDX-License-Identifier: Apache-2.0
#include "ubique/data/sampler.h"

#include <algorithm>
#include <utility>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

std::int64_t pieces_of(std::int64_t whole, std::int64_t size) { return (whole + size - 1) / size; }

}  // namespace

Sampler::Sampler(std::int64_t samples, std::int64_t per_update, Random order)
    : Sampler(samples, per_update, [samples, order](std::int64_t epoch) {
        return order.fork(static_cast<std::uint64_t>(epoch)).permutation(samples);
      }) {}

Sampler::Sampler(std::int64_t samples, std::int64_t per_update, Order order)
    : samples_(samples), per_update_(per_update), order_(std::move(order)) {
  check(samples > 0, ErrorKind::Input,
        "[data.sampler] there is nothing to learn from; got a training set of {} samples, expected "
        "at least 1.",
        samples);
  check(per_update > 0, ErrorKind::Internal, "[data.sampler] updates of {} samples.", per_update);
}

std::int64_t Sampler::updates_per_epoch() const { return pieces_of(samples_, per_update_); }

std::vector<Piece> Sampler::pieces(Cursor cursor, std::int64_t at_once) {
  if (cursor.epoch != known_epoch_) {
    known_order_ = order_(cursor.epoch);
    known_epoch_ = cursor.epoch;
    check(static_cast<std::int64_t>(known_order_.size()) == samples_, ErrorKind::Internal,
          "[data.sampler] an epoch of {} samples, expected {}.", known_order_.size(), samples_);
  }
  const auto begin = cursor.update * per_update_;
  const auto end = std::min(begin + per_update_, samples_);
  std::vector<Piece> pieces;
  for (auto place = begin; place < end; place += at_once) {
    const auto first = known_order_.begin() + place;
    const auto last = known_order_.begin() + std::min(place + at_once, end);
    pieces.push_back({.cursor = cursor,
                      .part = static_cast<std::int64_t>(pieces.size()),
                      .parts = pieces_of(end - begin, at_once),
                      .place = place,
                      .first = place - begin,
                      .indices = {first, last}});
  }
  return pieces;
}

Cursor Sampler::after(Cursor cursor) const {
  ++cursor.update;
  return cursor.update < updates_per_epoch() ? cursor : Cursor{cursor.epoch + 1, 0};
}

}  // namespace ubique::data
