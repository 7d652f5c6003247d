// SPDX-License-Identifier: Apache-2.0
// Tables of angles, and the half-split rotation.
#include "ubique/nn/rope.h"

#include <ATen/ATen.h>

namespace ubique::nn {

std::tuple<at::Tensor, at::Tensor> rope_tables(std::int64_t length, std::int64_t head_size,
                                               c10::Device device, double theta) {
  const auto f32 = at::TensorOptions(at::kFloat);
  const auto exponents = at::arange(0, head_size, 2, f32) / static_cast<double>(head_size);
  const auto frequencies = at::pow(theta, exponents).reciprocal_();
  const auto angles = at::outer(at::arange(length, f32), frequencies);  // (L, size / 2)
  const auto both = at::cat({angles, angles}, -1);
  return {both.cos().to(device), both.sin().to(device)};
}

at::Tensor apply_rope(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const auto wide = x.to(at::kFloat);
  const auto halves = wide.chunk(2, -1);
  const auto rotated = at::cat({-halves[1], halves[0]}, -1);
  return (wide * cos + rotated * sin).to(x.scalar_type());
}

}  // namespace ubique::nn
