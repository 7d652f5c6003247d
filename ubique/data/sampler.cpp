// SPDX-License-Identifier: Apache-2.0
#include "ubique/data/sampler.h"

#include <algorithm>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

std::int64_t pieces_of(std::int64_t whole, std::int64_t size) { return (whole + size - 1) / size; }

}  // namespace

Sampler::Sampler(std::int64_t samples, std::int64_t per_update, Random order)
    : samples_(samples), per_update_(per_update), random_(order) {
  check(samples > 0, ErrorKind::Input,
        "[data.sampler] there is nothing to learn from; got a training set of {} samples, expected "
        "at least 1.",
        samples);
  check(per_update > 0, ErrorKind::Internal, "[data.sampler] updates of {} samples.", per_update);
}

std::int64_t Sampler::updates_per_epoch() const { return pieces_of(samples_, per_update_); }

std::vector<Piece> Sampler::pieces(Cursor cursor, std::int64_t at_once) {
  if (cursor.epoch != known_epoch_) {
    known_order_ = random_.fork(static_cast<std::uint64_t>(cursor.epoch)).permutation(samples_);
    known_epoch_ = cursor.epoch;
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
                      .indices = {first, last}});
  }
  return pieces;
}

Cursor Sampler::after(Cursor cursor) const {
  ++cursor.update;
  return cursor.update < updates_per_epoch() ? cursor : Cursor{cursor.epoch + 1, 0};
}

}  // namespace ubique::data
