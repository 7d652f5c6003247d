// SPDX-License-Identifier: Apache-2.0
// Tables of angles, and the half-split rotation.
#include "ubique/nn/layers/rope.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ubique::nn {
namespace {

/// Slow rotations are divided by the factor, fast ones are kept, those between are mixed.
at::Tensor stretch_llama3(const at::Tensor& frequencies, const RopeScaling& scaling) {
  const auto length = static_cast<double>(scaling.original_length);
  const auto turns = frequencies * (length / (2 * std::numbers::pi));  // in the original context
  const auto fast =
      ((turns - scaling.low_factor) / (scaling.high_factor - scaling.low_factor)).clamp(0, 1);
  return frequencies * fast + frequencies / scaling.factor * (1 - fast);
}

/// The pair of values (not a whole number) that turns so often within the original context.
double pair_of_turns(double turns, std::int64_t pairs, double theta, const RopeScaling& scaling) {
  const auto length = static_cast<double>(scaling.original_length);
  return static_cast<double>(pairs) * std::log(length / (turns * 2 * std::numbers::pi)) /
         std::log(theta);
}

/// Pairs that turn slowly are divided by the factor, fast ones kept, those between mixed evenly.
at::Tensor stretch_yarn(const at::Tensor& frequencies, double theta, const RopeScaling& scaling) {
  const auto pairs = frequencies.size(0);
  auto low = pair_of_turns(scaling.fast_turns, pairs, theta, scaling);
  auto high = pair_of_turns(scaling.slow_turns, pairs, theta, scaling);
  if (scaling.whole_places) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(2 * pairs - 1));
  if (low == high) high += 0.001;
  const auto places = at::arange(pairs, at::TensorOptions(at::kFloat));
  const auto slow = ((places - low) / (high - low)).clamp(0, 1);
  return frequencies / scaling.factor * slow + frequencies * (1 - slow);
}

at::Tensor stretched(const at::Tensor& frequencies, double theta, const RopeScaling& scaling) {
  switch (scaling.kind) {
    case RopeScaling::Kind::Linear:
      return frequencies / scaling.factor;
    case RopeScaling::Kind::Llama3:
      return stretch_llama3(frequencies, scaling);
    case RopeScaling::Kind::Yarn:
      return stretch_yarn(frequencies, theta, scaling);
    case RopeScaling::Kind::None:
      break;
  }
  return frequencies;
}

}  // namespace

double yarn_attention_factor(double factor) { return factor > 1 ? 1 + 0.1 * std::log(factor) : 1; }

at::Tensor rope_frequencies(std::int64_t size, double theta, const RopeScaling& scaling) {
  const auto exponents =
      at::arange(0, size, 2, at::TensorOptions(at::kFloat)) / static_cast<double>(size);
  return stretched(at::pow(theta, exponents).reciprocal_(), theta, scaling);
}

std::tuple<at::Tensor, at::Tensor> rope_tables(std::int64_t length, std::int64_t size,
                                               c10::Device device, double theta,
                                               const RopeScaling& scaling) {
  const auto frequencies = rope_frequencies(size, theta, scaling);
  const auto angles =
      at::outer(at::arange(length, at::TensorOptions(at::kFloat)), frequencies);  // (L, size / 2)
  const auto both = at::cat({angles, angles}, -1);
  const auto factor = scaling.attention_factor;
  return {(both.cos() * factor).to(device), (both.sin() * factor).to(device)};
}

at::Tensor apply_rope(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const auto size = cos.size(-1);
  const auto wide = x.slice(-1, 0, size).to(at::kFloat);
  const auto halves = wide.chunk(2, -1);
  const auto turned = at::cat({-halves[1], halves[0]}, -1);
  const auto rotated = (wide * cos + turned * sin).to(x.scalar_type());
  return size == x.size(-1) ? rotated : at::cat({rotated, x.slice(-1, size)}, -1);
}

at::Tensor apply_rope_neighbours(const at::Tensor& x, const at::Tensor& cos,
                                 const at::Tensor& sin) {
  const auto wide = x.to(at::kFloat);
  const auto pairs = wide.unflatten(-1, {-1, 2}).unbind(-1);
  const auto turned = at::stack({-pairs[1], pairs[0]}, -1).flatten(-2);
  return wide * cos + turned * sin;
}

}  // namespace ubique::nn
