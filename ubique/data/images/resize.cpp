// SPDX-License-Identifier: Apache-2.0
// One axis at a time, first the one that leaves less work for the other. Summing rows is cheaper,
// as they are contiguous: shrinking sums rows before columns, enlarging after.
#include "ubique/data/images/resize.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/parallel.h"
#include "ubique/data/images/resize_taps.h"

namespace ubique::data {
namespace {

constexpr std::int64_t kRowsAtOnce = 8;  // fewer cost more to schedule than to compute

template <typename Source>
void sum_rows(const Source* source, std::size_t row, std::span<const float> weights, float* out) {
  std::fill_n(out, row, 0.0F);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const auto* from = source + k * row;
    const float weight = weights[k];
    for (std::size_t i = 0; i < row; ++i) out[i] += weight * static_cast<float>(from[i]);
  }
}

template <std::size_t kChannels, typename Source>
void sum_columns(const Source* row, const AxisTaps& taps, int left, int width, float* out) {
  for (int x = left; x < left + width; ++x, out += kChannels) {
    const auto* from = row + static_cast<std::size_t>(taps.first(x)) * kChannels;
    float sum[kChannels] = {};
    for (const float weight : taps.weights(x)) {
      for (std::size_t c = 0; c < kChannels; ++c) sum[c] += weight * static_cast<float>(*from++);
    }
    std::copy_n(sum, kChannels, out);
  }
}

template <typename Source>
void sum_columns(const Source* row, const AxisTaps& taps, const ResizeWindow& part, int channels,
                 float* out) {
  if (channels == 1) return sum_columns<1>(row, taps, part.left, part.size.width, out);
  if (channels == 3) return sum_columns<3>(row, taps, part.left, part.size.width, out);
  sum_columns<4>(row, taps, part.left, part.size.width, out);
}

template <typename Source>
struct ResizeJob {
  const Source* source;
  FrameSize from, to;
  int channels, threads;
  ResizeWindow part;
  ResizeMethod method;

  Image run() const {
    Image out{part.size.height, part.size.width, channels, {}};
    out.values.resize(out.size());
    to.height > from.height ? columns_first(out) : rows_first(out);
    return out;
  }

 private:
  std::size_t source_row() const {
    return static_cast<std::size_t>(from.width) * static_cast<std::size_t>(channels);
  }

  /// Calls work(y) for each row, on several threads.
  template <typename Work>
  void for_rows(int count, const Work& work) const {
    const auto rows = [&](std::int64_t begin, std::int64_t end) {
      for (auto y = static_cast<std::size_t>(begin); y < static_cast<std::size_t>(end); ++y) {
        work(y);
      }
    };
    parallel_for(count, threads, rows, kRowsAtOnce);
  }

  void rows_first(Image& out) const {
    const AxisTaps rows(from.height, to.height, method), columns(from.width, to.width, method);
    for_rows(out.height, [&](std::size_t y) {
      thread_local std::vector<float> mixed;
      mixed.resize(source_row());
      const int row = static_cast<int>(y) + part.top;
      sum_rows(source + static_cast<std::size_t>(rows.first(row)) * source_row(), source_row(),
               rows.weights(row), mixed.data());
      sum_columns(mixed.data(), columns, part, channels, out.values.data() + y * out.row());
    });
  }

  void columns_first(Image& out) const {
    const AxisTaps rows(from.height, to.height, method), columns(from.width, to.width, method);
    std::vector<float> wide(static_cast<std::size_t>(from.height) * out.row());
    for_rows(from.height, [&](std::size_t y) {
      sum_columns(source + y * source_row(), columns, part, channels, wide.data() + y * out.row());
    });
    for_rows(out.height, [&](std::size_t y) {
      const int row = static_cast<int>(y) + part.top;
      sum_rows(wide.data() + static_cast<std::size_t>(rows.first(row)) * out.row(), out.row(),
               rows.weights(row), out.values.data() + y * out.row());
    });
  }
};

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
  return resize_part(image, size, {0, 0, size}, method, threads);
}

Image resize(const io::Picture& picture, FrameSize size, ResizeMethod method, int threads) {
  const FrameSize from{picture.height, picture.width};
  check_resize(from, picture.channels, picture.pixels.size(), size);
  const ResizeJob<std::uint8_t> job{picture.pixels.data(), from,  size, picture.channels, threads,
                                    {0, 0, size},          method};
  return job.run();
}

Image resize_part(const Image& image, FrameSize size, const ResizeWindow& part, ResizeMethod method,
                  int threads) {
  const FrameSize from{image.height, image.width};
  check_resize(from, image.channels, image.values.size(), size);
  check(part.top >= 0 && part.left >= 0 && part.size.height > 0 && part.size.width > 0 &&
            part.top + part.size.height <= size.height && part.left + part.size.width <= size.width,
        ErrorKind::Internal, "[data.resize] a part of {} x {} at ({}, {}) is not within {} x {}.",
        part.size.height, part.size.width, part.top, part.left, size.height, size.width);
  const ResizeJob<float> job{
      image.values.data(), from, size, image.channels, threads, part, method};
  return job.run();
}

}  // namespace ubique::data
