// SPDX-License-Identifier: Apache-2.0
// The filter of each output phase, kept only where its window is not zero: any two rates take a few
// dozen multiplications a sample.
#include "ubique/data/audio/resample.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

constexpr double kZeroCrossings = 6, kRolloff = 0.99;

/// Hann-windowed sinc at `u` zero crossings from its centre.
double windowed_sinc(double u) {
  if (std::abs(u) >= kZeroCrossings) return 0;
  const double window = std::cos(u * std::numbers::pi / (2 * kZeroCrossings));
  const double angle = u * std::numbers::pi;
  return window * window * (angle == 0 ? 1 : std::sin(angle) / angle);
}

}  // namespace

RateConverter::RateConverter(int from, int to) {
  io::check_layout(from, 1, "the source");
  io::check_layout(to, 1, "the result");
  const auto divisor = std::gcd(from, to);
  from_ = from / divisor;
  to_ = to / divisor;
  const auto source = static_cast<double>(from_);
  const double edge = kRolloff * static_cast<double>(std::min(from_, to_));
  const double reach = kZeroCrossings * source / edge;  // input frames to each side
  taps_ = 2 * static_cast<std::int64_t>(std::ceil(reach)) + 1;
  weights_.resize(static_cast<std::size_t>(to_ * taps_));
  for (std::int64_t phase = 0; phase < to_; ++phase) {
    // torchaudio rounds this quotient to 32 bits; its filters then differ from exact ones by 3e-6.
    const double offset = static_cast<float>(phase) / static_cast<float>(to_);
    const double centre = static_cast<double>(phase) * source / static_cast<double>(to_);
    const auto first = static_cast<std::int64_t>(std::ceil(centre - reach));
    first_.push_back(first);
    for (std::int64_t tap = 0; tap < taps_; ++tap) {
      const double place = static_cast<double>(first + tap) / source - offset;
      weights_[static_cast<std::size_t>(phase * taps_ + tap)] =
          static_cast<float>(windowed_sinc(place * edge) * edge / source);
    }
  }
}

std::int64_t RateConverter::length(std::int64_t frames) const {
  return (frames * to_ + from_ - 1) / from_;
}

std::span<const float> RateConverter::weights(std::int64_t phase) const {
  return std::span(weights_).subspan(static_cast<std::size_t>(phase * taps_),
                                     static_cast<std::size_t>(taps_));
}

void RateConverter::convert_part(std::span<const float> held, std::int64_t begin, std::int64_t end,
                                 std::int64_t first, std::span<float> out) const {
  std::int64_t block = first / to_ * from_, phase = first % to_;
  for (auto& value : out) {
    const auto start = block + first_[static_cast<std::size_t>(phase)];
    const auto* weight = weights_.data() + phase * taps_;
    const auto low = std::max<std::int64_t>(0, -start);
    const auto high = std::min(taps_, end - start);
    const auto* from = held.data() + (start - begin);
    float sum = 0;
    for (auto tap = low; tap < high; ++tap) sum += weight[tap] * from[tap];
    value = sum;
    if (++phase == to_) {
      phase = 0;
      block += from_;
    }
  }
}

std::vector<float> RateConverter::convert(std::span<const float> wave) const {
  if (from_ == to_) return {wave.begin(), wave.end()};
  const auto size = static_cast<std::int64_t>(wave.size());
  std::vector<float> out(static_cast<std::size_t>(length(size)));
  convert_part(wave, 0, size, 0, out);
  return out;
}

std::vector<float> RateStream::take(std::int64_t last) {
  std::vector<float> out(static_cast<std::size_t>(last - done_));
  converter_.convert_part(held_, begin_, size_, done_, out);
  done_ = last;
  const auto needed = std::clamp(converter_.first_read(last), begin_, size_);
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(needed - begin_));
  begin_ = needed;
  return out;
}

std::vector<float> RateStream::push(std::span<const float> piece) {
  if (converter_.same_rate()) return {piece.begin(), piece.end()};
  held_.insert(held_.end(), piece.begin(), piece.end());
  size_ += static_cast<std::int64_t>(piece.size());
  // Filters reach about half of taps() to each side: frames that lie taps() back are complete.
  const auto complete = std::max<std::int64_t>(size_ - converter_.taps(), 0);
  return take(std::max(done_, converter_.length(complete)));
}

std::vector<float> RateStream::finish() { return take(converter_.length(size_)); }

io::Audio resampled(const io::Audio& audio, int rate) {
  if (audio.rate == rate) return audio;
  const RateConverter converter(audio.rate, rate);
  io::check_length(converter.length(audio.frames()), audio.channels, "the resampled sound");
  io::Audio out{rate, audio.channels, {}};
  for (int c = 0; c < audio.channels; ++c) {
    const auto channel = converter.convert(audio.channel(c));
    out.samples.insert(out.samples.end(), channel.begin(), channel.end());
  }
  return out;
}

io::Audio as_stereo(io::Audio audio) {
  if (audio.channels == 2) return audio;
  audio.channels = 2;
  const auto mono = audio.samples;
  audio.samples.insert(audio.samples.end(), mono.begin(), mono.end());
  return audio;
}

io::Audio as_mono(io::Audio audio) {
  if (audio.channels == 1) return audio;
  const auto left = audio.channel(0), right = audio.channel(1);
  for (std::size_t t = 0; t < left.size(); ++t) left[t] = 0.5F * (left[t] + right[t]);
  audio.samples.resize(left.size());
  audio.channels = 1;
  return audio;
}

}  // namespace ubique::data
