// SPDX-License-Identifier: Apache-2.0
// Uses the vector types of GCC and Clang instead of intrinsics, so that it compiles for any
// processor. The sums of a block of output channels times a few vectors of voxels stay in registers
// over all taps and input channels; each weight is loaded once for all voxels of the block.
#include "ubique/kernels/host/host_rows.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#define UBIQUE_AVX512 [[gnu::target("avx512f,avx2,fma")]]
#define UBIQUE_AVX2 [[gnu::target("avx2,fma")]]
#endif
#define UBIQUE_INLINE [[gnu::always_inline]] inline

namespace ubique::kernels {
namespace {

template <int kLanes>
struct Vector {
  typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
  typedef std::int32_t Mask __attribute__((vector_size(kLanes * sizeof(float))));
};

template <int kLanes>
UBIQUE_INLINE void load(typename Vector<kLanes>::Floats& value, const float* from) {
  std::memcpy(&value, from, sizeof(value));
}

/// Loads the first `count` values and fills up with zeros.
template <int kLanes>
UBIQUE_INLINE void load_some(typename Vector<kLanes>::Floats& value, const float* from,
                             std::int64_t count) {
  if (count >= kLanes) {
    std::memcpy(&value, from, sizeof(value));
  } else {
    value = typename Vector<kLanes>::Floats{};
    std::memcpy(&value, from, static_cast<std::size_t>(count) * sizeof(float));
  }
}

template <int kLanes>
UBIQUE_INLINE void store(float* to, const typename Vector<kLanes>::Floats& value,
                         std::int64_t count) {
  if (count >= kLanes) {
    std::memcpy(to, &value, sizeof(value));
  } else if (count > 0) {  // the margin behind the row must stay zero
    std::memcpy(to, &value, static_cast<std::size_t>(count) * sizeof(float));
  }
}

/// kOut output channels of kWide vectors of voxels from x on; only `count` voxels are stored.
template <int kLanes, int kWide, int kOut>
UBIQUE_INLINE void convolve_block(const ConvRow& row, const float* weights, std::int64_t channel,
                                  std::int64_t x, std::int64_t count) {
  using Floats = typename Vector<kLanes>::Floats;
  Floats sums[kOut][kWide];
  for (int o = 0; o < kOut; ++o) {
    for (int v = 0; v < kWide; ++v) sums[o][v] = Floats{} + row.bias[channel + o];
  }
  for (std::int64_t tap = 0; tap < row.tap_count; ++tap) {
    if (row.taps[tap] == nullptr) continue;
    const float* input = row.taps[tap] + x;
    const float* weight = weights + tap * row.in * kOut;
    for (std::int64_t i = 0; i < row.in; ++i, input += row.in_stride, weight += kOut) {
      Floats values[kWide];
#pragma GCC unroll 4
      for (int v = 0; v < kWide; ++v) load<kLanes>(values[v], input + v * kLanes);
#pragma GCC unroll 6
      for (int o = 0; o < kOut; ++o) {
#pragma GCC unroll 4
        for (int v = 0; v < kWide; ++v) sums[o][v] += values[v] * weight[o];
      }
    }
  }
  for (int o = 0; o < kOut; ++o) {
    float* result = row.result + (channel + o) * row.out_stride + x;
    for (int v = 0; v < kWide; ++v) {
      auto sum = sums[o][v];
      if (row.relu) sum = sum < 0 ? Floats{} : sum;  // NaN stays NaN
      store<kLanes>(result + v * kLanes, sum, count - v * kLanes);
    }
  }
}

template <int kLanes, int kWide>
UBIQUE_INLINE void convolve_blocks(const ConvRow& row, std::int64_t x, std::int64_t count) {
  const auto blocks = block_count(row.out);
  for (std::int64_t block = 0; block < blocks; ++block) {
    const auto begin = block_begin(row.out, block), end = block_begin(row.out, block + 1);
    const float* weights = row.weights + begin * row.tap_count * row.in;
    switch (end - begin) {
      case 1:
        convolve_block<kLanes, kWide, 1>(row, weights, begin, x, count);
        break;
      case 2:
        convolve_block<kLanes, kWide, 2>(row, weights, begin, x, count);
        break;
      case 3:
        convolve_block<kLanes, kWide, 3>(row, weights, begin, x, count);
        break;
      case 4:
        convolve_block<kLanes, kWide, 4>(row, weights, begin, x, count);
        break;
      case 5:
        convolve_block<kLanes, kWide, 5>(row, weights, begin, x, count);
        break;
      default:
        convolve_block<kLanes, kWide, 6>(row, weights, begin, x, count);
    }
  }
}

template <int kLanes, int kWide>
UBIQUE_INLINE void convolve_row(const ConvRow& row) {
  std::int64_t x = 0;
  for (; row.width - x >= kLanes * kWide; x += kLanes * kWide) {
    convolve_blocks<kLanes, kWide>(row, x, kLanes * kWide);
  }
  for (; x < row.width; x += kLanes) convolve_blocks<kLanes, 1>(row, x, row.width - x);
}

/// Logits of one vector of voxels and one class.
template <int kLanes>
UBIQUE_INLINE void class_logits(const ClassRow& row, std::int64_t label, std::int64_t x,
                                typename Vector<kLanes>::Floats& sum) {
  typename Vector<kLanes>::Floats value;
  const float* weights = row.weights + label * row.channels;
  sum = typename Vector<kLanes>::Floats{} + row.bias[label];
  for (std::int64_t c = 0; c < row.channels; ++c) {
    load<kLanes>(value, row.input + c * row.stride + x);
    sum += value * weights[c];
  }
}

template <int kLanes>
UBIQUE_INLINE bool classify_row(const ClassRow& row) {
  using Floats = typename Vector<kLanes>::Floats;
  using Mask = typename Vector<kLanes>::Mask;
  bool finite = true;
  for (std::int64_t x = 0; x < row.width; x += kLanes) {
    const auto count = std::min<std::int64_t>(kLanes, row.width - x);
    Floats best{}, logit{};
    Mask label{}, bad{};
    for (std::int64_t k = 0; k < row.classes; ++k) {
      class_logits<kLanes>(row, k, x, logit);
      bad |= (logit - logit) != Floats{};  // true only for NaN and infinity
      if (row.labels == nullptr) store<kLanes>(row.logits + k * row.class_stride + x, logit, count);
      const Mask better = k == 0 ? ~Mask{} : logit > best;
      best = better ? logit : best;
      label = better ? Mask{} + static_cast<std::int32_t>(k) : label;
    }
    for (std::int64_t lane = 0; lane < count; ++lane) {
      if (row.labels != nullptr) row.labels[x + lane] = static_cast<std::uint8_t>(label[lane]);
      finite &= bad[lane] == 0;
    }
  }
  return finite;
}

/// Sums of kOut channels' gradients times kTile inputs (an input is one channel at one tap), kept
/// in registers over the whole strip. `first` is the first input; inputs past the last one repeat
/// it and are not stored.
template <int kLanes, int kTile, int kOut>
UBIQUE_INLINE void gradient_tile(const GradientStrip& strip, std::int64_t channel,
                                 std::int64_t first) {
  using Floats = typename Vector<kLanes>::Floats;
  const auto inputs = strip.in * strip.taps;
  const float* input[kTile];
  for (int t = 0; t < kTile; ++t) {
    const auto one = std::min(first + t, inputs - 1);
    input[t] =
        strip.input + one / strip.taps * strip.input_channel + one % strip.taps * strip.tap_step;
  }
  Floats sums[kOut][kTile] = {};
  for (std::int64_t y = 0; y < strip.rows; ++y) {
    const float* gradient =
        strip.gradient + channel * strip.gradient_channel + y * strip.gradient_row;
    const auto from = y * strip.input_row;
    for (std::int64_t x = 0; x < strip.width; x += kLanes) {
      Floats slopes[kOut];
#pragma GCC unroll 5
      for (int o = 0; o < kOut; ++o) {
        load_some<kLanes>(slopes[o], gradient + o * strip.gradient_channel + x, strip.width - x);
      }
#pragma GCC unroll 6
      for (int t = 0; t < kTile; ++t) {
        Floats value;
        load<kLanes>(value, input[t] + from + x);
#pragma GCC unroll 5
        for (int o = 0; o < kOut; ++o) sums[o][t] += slopes[o] * value;
      }
    }
  }
  for (int o = 0; o < kOut; ++o) {
    for (int t = 0; t < kTile && first + t < inputs; ++t) {
      float* slot = strip.sums + ((channel + o) * inputs + first + t) * kSumLanes;
      Floats sum;
      load<kLanes>(sum, slot);
      sum += sums[o][t];
      std::memcpy(slot, &sum, sizeof(sum));
    }
  }
}

/// Inputs per tile that fit the registers: kOut sums for each, kOut gradients and one input value.
template <int kRegisters, int kOut>
constexpr int kTileInputs = std::min(6, (kRegisters - 1 - kOut) / kOut);

template <int kLanes, int kRegisters, int kOut>
UBIQUE_INLINE void gradient_block(const GradientStrip& strip, std::int64_t channel) {
  constexpr int kTile = kTileInputs<kRegisters, kOut>;
  for (std::int64_t first = 0; first < strip.in * strip.taps; first += kTile) {
    gradient_tile<kLanes, kTile, kOut>(strip, channel, first);
  }
}

template <int kLanes, int kRegisters>
UBIQUE_INLINE void gradient_strip(const GradientStrip& strip) {
  constexpr std::int64_t kMost = 5;
  const auto blocks = block_count(strip.out, kMost);
  for (std::int64_t block = 0; block < blocks; ++block) {
    const auto channel = block_begin(strip.out, block, kMost);
    switch (block_begin(strip.out, block + 1, kMost) - channel) {
      case 1:
        gradient_block<kLanes, kRegisters, 1>(strip, channel);
        break;
      case 2:
        gradient_block<kLanes, kRegisters, 2>(strip, channel);
        break;
      case 3:
        gradient_block<kLanes, kRegisters, 3>(strip, channel);
        break;
      case 4:
        gradient_block<kLanes, kRegisters, 4>(strip, channel);
        break;
      default:
        gradient_block<kLanes, kRegisters, 5>(strip, channel);
    }
  }
}

#if defined(__x86_64__)
UBIQUE_AVX512 void convolve_avx512(const ConvRow& row) { convolve_row<16, 4>(row); }
UBIQUE_AVX512 bool classify_avx512(const ClassRow& row) { return classify_row<16>(row); }
UBIQUE_AVX512 void gradient_avx512(const GradientStrip& strip) { gradient_strip<16, 32>(strip); }
UBIQUE_AVX2 void convolve_avx2(const ConvRow& row) { convolve_row<8, 2>(row); }
UBIQUE_AVX2 bool classify_avx2(const ClassRow& row) { return classify_row<8>(row); }
UBIQUE_AVX2 void gradient_avx2(const GradientStrip& strip) { gradient_strip<8, 16>(strip); }
#endif
void convolve_any(const ConvRow& row) { convolve_row<4, 4>(row); }
bool classify_any(const ClassRow& row) { return classify_row<4>(row); }
void gradient_any(const GradientStrip& strip) { gradient_strip<4, 32>(strip); }

RowKernels choose_row_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {convolve_avx512, classify_avx512, gradient_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {convolve_avx2, classify_avx2, gradient_avx2};
  }
#endif
  return {convolve_any, classify_any, gradient_any};
}

}  // namespace

std::int64_t block_count(std::int64_t channels, std::int64_t most) {
  return (channels + most - 1) / most;
}

std::int64_t block_begin(std::int64_t channels, std::int64_t block, std::int64_t most) {
  return channels * block / block_count(channels, most);
}

const RowKernels& row_kernels() {
  static const RowKernels kernels = choose_row_kernels();
  return kernels;
}

}  // namespace ubique::kernels
