// SPDX-License-Identifier: Apache-2.0
// The inner loops of host_planes.h, one row at a time, in the widest vectors of the processor: the
// same code is compiled for several instruction sets and chosen at run time.
#pragma once

#include <cstdint>

namespace ubique::kernels {

inline constexpr std::int64_t kMaxBlockChannels = 6;  ///< output channels computed together
inline constexpr std::int64_t kMaxTaps = 7 * 7 * 7;
inline constexpr std::int64_t kRowSlack = 128;  ///< floats that may be read past a row's margin

/// Splits `channels` into blocks of at most `most`, as even as possible: their number, and the
/// first channel of each.
std::int64_t block_count(std::int64_t channels, std::int64_t most = kMaxBlockChannels);
std::int64_t block_begin(std::int64_t channels, std::int64_t block,
                         std::int64_t most = kMaxBlockChannels);

struct ConvRow {
  const float* taps[kMaxTaps];  ///< start of each tap's input row, first channel; null: zeros
  std::int64_t tap_count = 0;
  std::int64_t in = 0, out = 0;                ///< channels
  std::int64_t in_stride = 0, out_stride = 0;  ///< floats from one channel's row to the next
  std::int64_t width = 0;
  const float* weights = nullptr;  ///< by block, tap, input channel, output channel of the block
  const float* bias = nullptr;
  float* result = nullptr;
  bool relu = false;
};

struct ClassRow {
  const float* input = nullptr;
  std::int64_t channels = 0, classes = 0, stride = 0, width = 0;
  const float* weights = nullptr;  ///< (classes, channels)
  const float* bias = nullptr;
  std::uint8_t* labels = nullptr;  ///< null: write logits
  float* logits = nullptr;
  std::int64_t class_stride = 0;
};

/// A strip of rows of one plane and the input rows that one row of taps reads.
struct GradientStrip {
  const float* gradient = nullptr;
  std::int64_t gradient_channel = 0, gradient_row = 0;  ///< strides
  const float* input = nullptr;                         ///< start of the first tap's input
  std::int64_t input_channel = 0, input_row = 0, tap_step = 0;
  std::int64_t in = 0, out = 0, taps = 0;  ///< taps of the row
  std::int64_t rows = 0, width = 0;
  float* sums = nullptr;  ///< (out, in, taps) slots of kSumLanes floats, added to
};

inline constexpr std::int64_t kSumLanes = 16;  ///< partial sums per weight gradient

struct RowKernels {
  void (*convolve)(const ConvRow&);
  bool (*classify)(const ClassRow&);  ///< false: a logit is not finite
  void (*weight_gradient)(const GradientStrip&);
};

const RowKernels& row_kernels();

}  // namespace ubique::kernels
