// SPDX-License-Identifier: Apache-2.0
// Each sample of the result is a sum over a few of the sound, from a place that repeats block by
// block; before and after the sound there is silence.
#include "ubique/models/acestep/use/sound/rate_tiles.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace ubique::acestep {

RateTiles::RateTiles(int from, int to)
    : converter_(from, to),
      block_in_(from / std::gcd(from, to)),
      block_out_(to / std::gcd(from, to)) {}

void RateTiles::set_tables(c10::Device device) {
  if (first_.defined()) return;
  const auto taps = converter_.taps();
  auto first = at::empty({block_out_}, at::kLong);
  auto weights = at::empty({block_out_, taps}, at::kFloat);
  for (std::int64_t phase = 0; phase < block_out_; ++phase) {
    first.mutable_data_ptr<std::int64_t>()[phase] = converter_.first(phase);
    std::ranges::copy(converter_.weights(phase), weights.mutable_data_ptr<float>() + phase * taps);
  }
  least_first_ = first.min().item<std::int64_t>();
  most_first_ = first.max().item<std::int64_t>();
  first_ = first.to(device);
  weights_ = weights.t().contiguous().to(device);
}

at::Tensor RateTiles::convert(std::int64_t last) const {
  const auto block = done_ / block_out_, end = (last + block_out_ - 1) / block_out_;
  const auto rows = held_.size(0), blocks = end - block;
  const auto begin = start_of(block);
  const auto reach = (end - 1) * block_in_ + most_first_ + converter_.taps();
  const auto before = begin_ - begin;
  const auto after = std::max<std::int64_t>(0, reach - begin_ - held_.size(1));
  const auto padded = at::constant_pad_nd(held_, {before, after});
  const auto places = at::arange(blocks, first_.options()).unsqueeze(1) * block_in_ +
                      (first_ - least_first_);  // (blocks, block_out)
  const auto flat = places.flatten();
  auto sums = at::zeros({rows, blocks, block_out_}, held_.options());
  for (std::int64_t tap = 0; tap < converter_.taps(); ++tap) {
    const auto read = padded.index_select(1, flat + tap).view(sums.sizes());
    sums.addcmul_(read, weights_[tap]);
  }
  const auto from = block * block_out_;
  return sums.flatten(1).slice(1, done_ - from, last - from);
}

at::Tensor RateTiles::push(const at::Tensor& wave, bool last) {
  if (converter_.same_rate()) return wave;
  set_tables(wave.device());
  held_ = held_.defined() ? at::cat({held_, wave}, 1) : wave;
  size_ += wave.size(1);
  // Filters reach about half of taps() to each side: samples that lie taps() back are complete.
  const auto complete = last ? size_ : std::max<std::int64_t>(size_ - converter_.taps(), 0);
  const auto until = std::max(done_, converter_.length(complete));
  auto made = until > done_ ? convert(until) : wave.slice(1, 0, 0);
  done_ = until;
  const auto needed = std::clamp(start_of(done_ / block_out_), begin_, size_);
  held_ = held_.slice(1, needed - begin_);
  begin_ = needed;
  return made;
}

}  // namespace ubique::acestep
