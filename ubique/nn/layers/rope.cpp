// SPDX-License-Identifier: Apache-2.0
// Tables of angles, and the half-split rotation.
#include "ubique/nn/layers/rope.h"

#include <ATen/ATen.h>

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

at::Tensor stretched(const at::Tensor& frequencies, const RopeScaling& scaling) {
  switch (scaling.kind) {
    case RopeScaling::Kind::Linear:
      return frequencies / scaling.factor;
    case RopeScaling::Kind::Llama3:
      return stretch_llama3(frequencies, scaling);
    case RopeScaling::Kind::None:
      break;
  }
  return frequencies;
}

}  // namespace

at::Tensor rope_frequencies(std::int64_t size, double theta, const RopeScaling& scaling) {
  const auto exponents =
      at::arange(0, size, 2, at::TensorOptions(at::kFloat)) / static_cast<double>(size);
  return stretched(at::pow(theta, exponents).reciprocal_(), scaling);
}

std::tuple<at::Tensor, at::Tensor> rope_tables(std::int64_t length, std::int64_t size,
                                               c10::Device device, double theta,
                                               const RopeScaling& scaling) {
  const auto frequencies = rope_frequencies(size, theta, scaling);
  const auto angles =
      at::outer(at::arange(length, at::TensorOptions(at::kFloat)), frequencies);  // (L, size / 2)
  const auto both = at::cat({angles, angles}, -1);
  return {both.cos().to(device), both.sin().to(device)};
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
