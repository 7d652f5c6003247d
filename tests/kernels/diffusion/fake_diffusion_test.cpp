// SPDX-License-Identifier: Apache-2.0
// rotate_pairs and gated_conv: their plain ops against loops, and fake CPU kernels that pass or
// fail the check before the first use.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <doctest/doctest.h>
#include <torch/library.h>

#include <cmath>
#include <optional>

#include "ubique/kernels/diffusion/gated_conv.h"
#include "ubique/kernels/diffusion/rotate_pairs.h"

using namespace ubique::kernels;

namespace {

using Optional = std::optional<at::Tensor>;

bool fakes_present = false, fakes_are_wrong = false;
int fake_calls = 0;

struct FakeDiffusionKernels {
  explicit FakeDiffusionKernels(bool wrong) {
    fakes_present = true;
    fakes_are_wrong = wrong;
    fake_calls = 0;
  }
  ~FakeDiffusionKernels() { fakes_present = false; }
};

bool fake_does_pairs(const at::Tensor&, std::int64_t, std::int64_t, at::ScalarType) {
  return fakes_present;
}
bool fake_does_gated(const at::Tensor&, const at::Tensor&) { return fakes_present; }

double silu_of(double x) { return x / (1 + std::exp(-x)); }

/// Value by value, as the header says it.
at::Tensor fake_pairs(const at::Tensor& x, const Optional& cos, const Optional& sin,
                      std::int64_t heads, bool relu, std::int64_t ones, at::ScalarType dtype) {
  ++fake_calls;
  const auto size = x.size(2) / heads;
  auto y = at::ones({x.size(0), heads, x.size(1), size + ones}, x.options());
  const auto from = x.accessor<float, 3>();
  auto to = y.accessor<float, 4>();
  for (std::int64_t b = 0; b < y.size(0); ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t t = 0; t < y.size(2); ++t) {
        for (std::int64_t i = 0; i < size; ++i) {
          const auto own = from[b][t][h * size + i];
          const auto other = from[b][t][h * size + (i ^ 1)];
          auto value = own;
          if (cos) {
            const auto c = (*cos)[t][i].item<float>(), s = (*sin)[t][i].item<float>();
            value = own * c + (i % 2 == 0 ? -other : other) * s;
          }
          to[b][h][t][i] = relu && value < 0 ? 0 : value;
        }
      }
    }
  }
  return (fakes_are_wrong ? y * 1.1 : y).to(dtype);
}

at::Tensor fake_gated(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  ++fake_calls;
  const auto half = x.size(2) / 2, frames = x.size(1);
  auto y = at::zeros({x.size(0), frames, half}, x.options());
  const auto mixed = [&](std::int64_t b, std::int64_t t, std::int64_t c) {
    auto sum = bias[c].item<double>();
    for (std::int64_t tap = 0; tap < 3; ++tap) {
      const auto at = t + tap - 1;
      if (at < 0 || at >= frames) continue;
      sum += weight[c][0][tap].item<double>() * silu_of(x[b][at][c].item<double>());
    }
    return sum;
  };
  for (std::int64_t b = 0; b < x.size(0); ++b) {
    for (std::int64_t t = 0; t < frames; ++t) {
      for (std::int64_t c = 0; c < half; ++c) {
        y[b][t][c] = mixed(b, t, c) * silu_of(mixed(b, t, half + c));
      }
    }
  }
  return fakes_are_wrong ? y * 1.1 : y;
}

double farthest(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CPU, library) {
  library.impl("does_rotate_pairs", TORCH_FN(fake_does_pairs));
  library.impl("rotate_pairs", TORCH_FN(fake_pairs));
  library.impl("does_gated_conv", TORCH_FN(fake_does_gated));
  library.impl("gated_conv", TORCH_FN(fake_gated));
}

TEST_CASE("rotate_pairs: plain ops are the loops, and a right kernel is used") {
  const auto x = at::randn({2, 5, 3 * 8}), angles = at::randn({5, 8});
  const PairRotation rotation{
      .cos = angles.cos(), .sin = angles.sin(), .heads = 3, .relu = true, .ones = 4};
  const auto plain = rotate_pairs(x, rotation, at::kFloat);
  CHECK(plain.sizes() == at::IntArrayRef({2, 3, 5, 12}));
  const FakeDiffusionKernels kernels(false);
  const c10::InferenceMode inference;
  const auto fused = rotate_pairs(x, rotation, at::kFloat);
  CHECK(fake_calls == 4);  // three of the check
  CHECK(farthest(fused, plain) < 1e-5);
}

TEST_CASE("rotate_pairs: a wrong kernel is not used") {
  const FakeDiffusionKernels kernels(true);
  const auto x = at::randn({1, 4, 2 * 16});
  const PairRotation rotation{.heads = 2};
  const auto y = rotate_pairs(x, rotation, at::kFloat);
  CHECK(farthest(y, x.unflatten(-1, {2, 16}).transpose(1, 2)) == 0);
}

TEST_CASE("gated_conv: shifted frames have the values and the gradients of the convolution") {
  for (const std::int64_t frames : {1, 2, 7}) {
    CAPTURE(frames);
    const auto x = at::randn({2, frames, 16}), weight = at::randn({16, 1, 3});
    const auto bias = at::randn({16}), gradient = at::randn({2, frames, 8});
    std::vector<at::Tensor> values, gradients;
    for (const bool shifted : {false, true}) {
      std::vector<at::Tensor> leaves;
      for (const auto& each : {x, weight, bias}) leaves.push_back(each.clone().requires_grad_());
      const auto y = shifted ? shifted_gated_conv(leaves[0], leaves[1], leaves[2])
                             : plain_gated_conv(leaves[0], leaves[1], leaves[2]);
      y.backward(gradient);
      values.push_back(y.detach());
      for (const auto& leaf : leaves) gradients.push_back(leaf.grad());
    }
    CHECK(farthest(values[0], values[1]) < 1e-5);
    for (std::size_t i = 0; i < 3; ++i) CHECK(farthest(gradients[i], gradients[i + 3]) < 1e-4);
  }
}

TEST_CASE("gated_conv: plain ops are the loops, gradients too, and a right kernel is used") {
  const auto x = at::randn({2, 7, 16}), weight = at::randn({16, 1, 3}), bias = at::randn({16});
  const auto plain = plain_gated_conv(x.clone(), weight, bias);
  const auto leaf = x.clone().requires_grad_();
  const auto with_gradient = plain_gated_conv(leaf, weight, bias);
  CHECK(farthest(with_gradient.detach(), plain) < 1e-6);
  with_gradient.sum().backward();
  CHECK(leaf.grad().abs().max().item<double>() > 0.1);
  const FakeDiffusionKernels kernels(false);
  CHECK(farthest(gated_conv(x, weight, bias), plain) < 1e-5);
  CHECK(fake_calls == 2);
}
