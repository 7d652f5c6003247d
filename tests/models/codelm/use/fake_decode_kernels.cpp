// SPDX-License-Identifier: Apache-2.0
// The ops of kernels/decoder/decode_step.h for the CPU, row by row.
#include "tests/models/codelm/use/fake_decode_kernels.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include <cmath>

namespace ubique::test {
namespace {

bool present = false;  // in other tests the CPU has none of these
int made_steps = 0;
std::int64_t made_rows = 0;

bool fake_does_step(const at::Tensor& /*weight*/, std::int64_t /*rows*/,
                    std::int64_t /*head_size*/) {
  return present;
}

void fake_embed(const at::Tensor& inputs, const at::Tensor& tokens, const at::Tensor& positions,
                const at::Tensor& x) {
  ++made_steps;
  made_rows += x.size(0);
  x.copy_(tokens.index_select(0, inputs[0]));
  if (positions.numel() > 0) x.add_(positions.index_select(0, inputs[1]));
}

at::Tensor normed(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  bool center, double epsilon) {
  const auto from = center ? x - x.mean(-1, true) : x;
  auto y = from * (from.square().mean(-1, true) + epsilon).rsqrt();
  if (weight.numel() > 0) y = y * weight;
  return bias.numel() > 0 ? y + bias : y;
}

at::Tensor activated(const at::Tensor& x, std::int64_t kind) {
  if (kind == 1) return at::silu(x);
  return kind == 0 ? x : at::gelu(x, kind == 2 ? "none" : "tanh");
}

void fake_product(const at::Tensor& x, const at::Tensor& norm_weight, const at::Tensor& norm_bias,
                  std::int64_t norm, double epsilon, at::TensorList weights, at::TensorList biases,
                  bool gated, std::int64_t activation, const at::Tensor& residual,
                  const at::Tensor& out, const at::Tensor& best) {
  const auto input = norm == 0 ? x : normed(x, norm_weight, norm_bias, norm == 2, epsilon);
  std::vector<at::Tensor> parts;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const bool biased = i < biases.size() && biases[i].numel() > 0;
    parts.push_back(at::linear(input, weights[i], biased ? biases[i] : at::Tensor()));
  }
  auto y = gated ? activated(parts[0], activation) * parts[1]
                 : activated(at::cat(parts, -1), activation);
  if (residual.numel() > 0) y = y + residual;
  out.copy_(y);
  if (best.numel() == 0) return;
  const auto [largest, ids] = y.max(-1);
  best.fill_(-INFINITY);
  best[0].copy_(at::stack({largest, ids.to(at::kFloat)}, -1));
}

at::Tensor turned(const at::Tensor& head, const at::Tensor& norm, const at::Tensor& cos,
                  const at::Tensor& sin, std::int64_t position, double epsilon) {
  auto x = norm.numel() > 0 ? normed(head, norm, at::empty({0}), false, epsilon) : head.clone();
  if (cos.numel() == 0) return x;
  const auto size = cos.size(1);
  const auto part = x.slice(0, 0, size);
  const auto other = at::cat({-part.slice(0, size / 2), part.slice(0, 0, size / 2)});
  return at::cat({part * cos[position] + other * sin[position], x.slice(0, size)});
}

void fake_attend(const at::Tensor& qkv, const at::Tensor& inputs, const at::Tensor& keys,
                 const at::Tensor& values, const at::Tensor& cos, const at::Tensor& sin,
                 const at::Tensor& q_norm, const at::Tensor& k_norm, const at::Tensor& partial,
                 const at::Tensor& counters, const at::Tensor& mixed, std::int64_t heads,
                 bool by_head, std::int64_t window, double epsilon) {
  TORCH_CHECK(partial.numel() > 0 && counters.numel() > 0, "no scratch memory");
  const auto kv_heads = keys.size(1), size = keys.size(3);
  for (std::int64_t row = 0; row < qkv.size(0); ++row) {
    const auto at = inputs[1][row].item<std::int64_t>();
    const auto first = window > 0 ? std::max<std::int64_t>(0, at + 1 - window) : 0;
    const auto all = qkv[row].view({-1, size});  // (heads + 2 kv heads, size)
    const auto head = [&](int kind, std::int64_t h) {
      if (by_head) return all[3 * h + kind];
      return all[kind == 0 ? h : heads + (kind - 1) * kv_heads + h];
    };
    for (std::int64_t h = 0; h < kv_heads; ++h) {
      keys[row][h][at].copy_(turned(head(1, h), k_norm, cos, sin, at, epsilon));
      values[row][h][at].copy_(head(2, h));
    }
    for (std::int64_t h = 0; h < heads; ++h) {
      const auto q = turned(head(0, h), q_norm, cos, sin, at, epsilon);
      const auto shared = h * kv_heads / heads;
      const auto k = keys[row][shared].slice(0, first, at + 1);
      const auto v = values[row][shared].slice(0, first, at + 1);
      const auto scores = at::mv(k, q) / std::sqrt(static_cast<double>(size));
      mixed[row].slice(0, h * size, (h + 1) * size).copy_(at::mv(v.t(), scores.softmax(-1)));
    }
  }
}

void fake_choose(const at::Tensor& best, const at::Tensor& inputs, std::int64_t capacity,
                 const at::Tensor& likeliest, const at::Tensor& next) {
  likeliest.copy_(best[0].flip(-1));
  for (std::int64_t row = 0; row < inputs.size(1); ++row) {
    const auto id = inputs[0][row].item<std::int64_t>(), at = inputs[1][row].item<std::int64_t>();
    const bool goes_on = at + 1 < capacity;
    next[0][row] = goes_on ? likeliest[row][0].item<std::int64_t>() : id;
    next[1][row] = goes_on ? at + 1 : at;
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CPU, library) {
  library.impl("does_decode_step", TORCH_FN(fake_does_step));
  library.impl("decode_embed", TORCH_FN(fake_embed));
  library.impl("decode_product", TORCH_FN(fake_product));
  library.impl("decode_attend", TORCH_FN(fake_attend));
  library.impl("decode_choose", TORCH_FN(fake_choose));
}

FakeDecodeKernels::FakeDecodeKernels() { present = true; }
FakeDecodeKernels::~FakeDecodeKernels() { present = false; }
int FakeDecodeKernels::steps() { return made_steps; }
std::int64_t FakeDecodeKernels::rows() { return made_rows; }

}  // namespace ubique::test
