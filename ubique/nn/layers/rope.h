// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: tables of cosines and sines, and the rotation itself.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace ubique::nn {

constexpr double kRopeTheta = 10000;

/// How a model was stretched to longer contexts than it was first trained on.
struct RopeScaling {
  enum class Kind { None, Linear, Llama3, Yarn };
  Kind kind = Kind::None;
  double factor = 1;                       ///< all kinds: frequencies are divided by it
  double low_factor = 1, high_factor = 4;  ///< Llama 3: which frequencies are slow and fast
  double slow_turns = 1, fast_turns = 32;  ///< YaRN: the same, in turns within original_length
  bool whole_places = true;                ///< YaRN: these fall on whole pairs of values
  std::int64_t original_length = 8192;     ///< Llama 3, YaRN: the context before stretching
  double attention_factor = 1;             ///< YaRN: cosines and sines are multiplied by it
  bool operator==(const RopeScaling&) const = default;
};

/// What YaRN multiplies cosines and sines by, if nothing else is said: 1 + ln(factor) / 10.
double yarn_attention_factor(double factor);

/// Angles per position of each pair of values: (size / 2), f32, on the host.
at::Tensor rope_frequencies(std::int64_t size, double theta = kRopeTheta,
                            const RopeScaling& scaling = {});

/// cos and sin of positions 0..length-1: (L, size), f32, the second half of a row repeating the
/// first. Computed on the host, so that every device has the same bits.
std::tuple<at::Tensor, at::Tensor> rope_tables(std::int64_t length, std::int64_t size,
                                               c10::Device device, double theta = kRopeTheta,
                                               const RopeScaling& scaling = {});

/// Rotates x (B, heads, L, size) by tables (L, r) or (B, 1, L, r); in f32 whatever the dtype of x.
/// With r below the size only the first r values of each head are rotated.
at::Tensor apply_rope(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

/// The same with pairs of neighbours (0 and 1, 2 and 3, ...) instead of halves, each value by the
/// table's column of its own: y[2i] = x[2i]·cos[2i] - x[2i+1]·sin[2i]. Tables (L, size). Returns
/// f32. With tables of rope_tables() the two angles of a pair differ; models were trained so.
at::Tensor apply_rope_neighbours(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

}  // namespace ubique::nn
