// SPDX-License-Identifier: Apache-2.0
// Per output row: the weighted sum of its source rows first, which runs along memory, then its
// columns.
#include "ubique/data/images/resize.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/parallel.h"
#include "ubique/data/images/resize_taps.h"

namespace ubique::data {
namespace {

constexpr std::int64_t kRowsAtOnce = 8;  // fewer cost more to hand out than to compute

template <typename Source>
void sum_rows(const Source* source, std::size_t row, std::span<const float> weights, float* out) {
  std::fill_n(out, row, 0.0F);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const auto* from = source + k * row;
    const float weight = weights[k];
    for (std::size_t i = 0; i < row; ++i) out[i] += weight * static_cast<float>(from[i]);
  }
}

template <std::size_t kChannels>
void sum_columns(const float* row, const AxisTaps& taps, int width, float* out) {
  for (int x = 0; x < width; ++x, out += kChannels) {
    const auto* from = row + static_cast<std::size_t>(taps.first(x)) * kChannels;
    float sum[kChannels] = {};
    for (const float weight : taps.weights(x)) {
      for (std::size_t c = 0; c < kChannels; ++c) sum[c] += weight * *from++;
    }
    std::copy_n(sum, kChannels, out);
  }
}

void sum_columns(const float* row, const AxisTaps& taps, int width, int channels, float* out) {
  if (channels == 1) return sum_columns<1>(row, taps, width, out);
  if (channels == 3) return sum_columns<3>(row, taps, width, out);
  sum_columns<4>(row, taps, width, out);
}

template <typename Source>
Image resized(const Source* source, FrameSize from, int channels, FrameSize to, ResizeMethod method,
              int threads) {
  const AxisTaps rows(from.height, to.height, method), columns(from.width, to.width, method);
  Image out{to.height, to.width, channels, {}};
  out.values.resize(out.size());
  const auto row = static_cast<std::size_t>(from.width) * static_cast<std::size_t>(channels);
  parallel_for(
      to.height, threads,
      [&](std::int64_t begin, std::int64_t end) {
        std::vector<float> mixed(row);
        for (auto y = static_cast<int>(begin); y < end; ++y) {
          sum_rows(source + static_cast<std::size_t>(rows.first(y)) * row, row, rows.weights(y),
                   mixed.data());
          sum_columns(mixed.data(), columns, to.width, channels,
                      out.values.data() + static_cast<std::size_t>(y) * out.row());
        }
      },
      kRowsAtOnce);
  return out;
}

void check_resize(FrameSize from, int channels, std::size_t values, FrameSize to) {
  const auto whole = static_cast<std::size_t>(from.height) * static_cast<std::size_t>(from.width) *
                     static_cast<std::size_t>(channels);
  check(from.height > 0 && from.width > 0 && to.height > 0 && to.width > 0 &&
            (channels == 1 || channels == 3 || channels == 4) && whole == values,
        ErrorKind::Internal,
        "[data.resize] cannot resize {} x {} x {} ({} values) to {} x {}; expected sides of 1 and "
        "more and 1, 3 or 4 channels.",
        from.height, from.width, channels, values, to.height, to.width);
}

}  // namespace

Image resize(const Image& image, FrameSize size, ResizeMethod method, int threads) {
  const FrameSize from{image.height, image.width};
  check_resize(from, image.channels, image.values.size(), size);
  return resized(image.values.data(), from, image.channels, size, method, threads);
}

Image resize(const io::Picture& picture, FrameSize size, ResizeMethod method, int threads) {
  const FrameSize from{picture.height, picture.width};
  check_resize(from, picture.channels, picture.pixels.size(), size);
  return resized(picture.pixels.data(), from, picture.channels, size, method, threads);
}

}  // namespace ubique::data
