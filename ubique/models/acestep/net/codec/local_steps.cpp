// SPDX-License-Identifier: Apache-2.0
// Which positions each step needs is found from the last step back; what a step computed beyond
// them is dropped at once, so that the margins of early steps cost nothing in later, finer ones.
#include "ubique/models/acestep/net/codec/local_steps.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/base/error.h"

namespace ubique::acestep {
namespace {

/// The inputs of one step for some of its outputs, whole groups of `down`.
Range inputs_of_step(const LocalStep& step, Range outputs, std::int64_t length) {
  const auto up = step.up, down = step.down;
  const auto first = outputs.begin / up * down - step.reach;
  const auto last = (outputs.end + up - 1) / up * down + step.reach;
  const auto begin = std::max<std::int64_t>(first, 0) / down * down;
  return {begin, std::min((last + down - 1) / down * down, length)};
}

at::Tensor part(const at::Tensor& x, Range held, Range wanted) {
  return x.slice(-1, wanted.begin - held.begin, wanted.end - held.begin);
}

}  // namespace

LocalStep local_step(std::int64_t reach, std::function<at::Tensor(const at::Tensor&)> run) {
  return {.reach = reach,
          .run = [run = std::move(run)](const at::Tensor& x, const at::Tensor&) { return run(x); }};
}

at::Tensor run_steps(const LocalSteps& steps, const at::Tensor& x) {
  auto y = x;
  for (const auto& step : steps) y = step.run(y, {});
  return y;
}

TiledRun::TiledRun(LocalSteps steps, std::int64_t length, std::int64_t tile)
    : steps_(std::move(steps)), lengths_({length}), tile_(tile), sums_(steps_.size()) {
  std::int64_t unit = 1;
  for (const auto& step : steps_) {
    const auto before = lengths_.back();
    unit *= step.down;
    check(before >= 1 && before % step.down == 0 && tile >= 1 && tile % unit == 0,
          ErrorKind::Internal,
          "[acestep.tiles] {} positions in tiles of {} cannot be taken in groups of {}.", length,
          tile, unit);
    lengths_.push_back(before * step.up / step.down);
  }
}

std::vector<Range> TiledRun::reads(std::size_t count, Range outputs) const {
  std::vector<Range> ranges(count + 1, outputs);
  for (auto i = count; i-- > 0;) {
    ranges[i] = inputs_of_step(steps_[i], ranges[i + 1], lengths_[i]);
  }
  return ranges;
}

std::int64_t TiledRun::longest(Range outputs) const {
  const auto ranges = reads(steps_.size(), outputs);
  std::int64_t most = outputs.size();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto taken = ranges[i].size();
    most = std::max({most, taken, taken * steps_[i].up / steps_[i].down});
  }
  return most;
}

at::Tensor TiledRun::run_first(std::size_t count, const at::Tensor& x, Range held,
                               Range outputs) const {
  const auto ranges = reads(count, outputs);
  auto y = part(x, held, ranges[0]);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& step = steps_[i];
    y = step.run(y, sums_[i]);
    const auto begin = ranges[i].begin * step.up / step.down;
    y = part(y, {begin, begin + y.size(-1)}, ranges[i + 1]);
  }
  return y;
}

void TiledRun::gather(const at::Tensor& x) {
  const auto length = lengths_.front();
  check(x.size(-1) == length, ErrorKind::Internal, "[acestep.tiles] got {} positions, expected {}.",
        x.size(-1), length);
  if (length <= tile_) return;  // one tile: each step has the whole
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto& step = steps_[i];
    if (!step.sum) continue;
    at::Tensor sums;
    for (std::int64_t begin = 0; begin < length; begin += tile_) {
      const auto here = [&](std::int64_t at) { return at * lengths_[i] / length; };
      const Range own{here(begin), here(std::min(begin + tile_, length))};
      const Range wide{std::max<std::int64_t>(own.begin - step.reach, 0),
                       std::min(own.end + step.reach, lengths_[i])};
      const auto y = run_first(i, x, {0, length}, wide);
      const auto more = step.sum(y, {own.begin - wide.begin, own.end - wide.begin});
      sums = sums.defined() ? sums + more : more;
    }
    sums_[i] = sums;
  }
}

at::Tensor TiledRun::run(const at::Tensor& x, Range held, Range outputs) const {
  return run_first(steps_.size(), x, held, outputs);
}

at::Tensor TiledRun::run_all(const at::Tensor& x) const {
  const auto length = lengths_.front();
  std::vector<at::Tensor> parts;
  for (std::int64_t begin = 0; begin < length; begin += tile_) {
    const auto here = [&](std::int64_t at) { return at * outputs() / length; };
    parts.push_back(run(x, {0, length}, {here(begin), here(std::min(begin + tile_, length))}));
  }
  return at::cat(parts, -1);
}

}  // namespace ubique::acestep
