// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/trm/attention.h"

#include <ATen/ATen.h>

namespace ubique::trm {
namespace {

constexpr double kTheta = 10000;

/// Turned in f32 whatever the dtype, as places from `first` on: (B, L, heads, size).
at::Tensor rotate(const at::Tensor& x, const AttentionForm& form, std::int64_t first = 0) {
  const auto wide = at::isReducedFloatingType(x.scalar_type()) ? x.to(at::kFloat) : x;
  const auto halves = wide.chunk(2, -1);
  const auto turned = at::cat({-halves[1], halves[0]}, -1);
  const auto cos = form.cos.slice(0, first, first + x.size(1)).unsqueeze(1);  // (L, 1, size)
  const auto sin = form.sin.slice(0, first, first + x.size(1)).unsqueeze(1);
  return (wide * cos + turned * sin).to(x.scalar_type());
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> rope_tables(std::int64_t length, std::int64_t head_size,
                                               c10::Device device) {
  const auto f32 = at::TensorOptions(at::kFloat);  // on the host: the same bits everywhere
  const auto exponents = at::arange(0, head_size, 2, f32) / static_cast<double>(head_size);
  const auto frequencies = at::pow(kTheta, exponents).reciprocal_();
  const auto angles = at::outer(at::arange(length, f32), frequencies);  // (L, size / 2)
  const auto both = at::cat({angles, angles}, -1);
  return {both.cos().to(device), both.sin().to(device)};
}

at::Tensor attention(const at::Tensor& x, const kernels::CastWeight& qkv,
                     const kernels::CastWeight& out, const AttentionForm& form) {
  const auto batch = x.size(0), length = x.size(1), hidden = x.size(2);
  const auto heads = at::linear(x, qkv.use()).view({batch, length, 3, form.heads, -1});
  auto queries = heads.select(2, 0), keys = heads.select(2, 1);  // (B, L, heads, size)
  if (form.cos.defined()) {
    queries = rotate(queries, form);
    keys = rotate(keys, form);
  }
  const auto values = heads.select(2, 2);
  const auto mixed = at::scaled_dot_product_attention(queries.transpose(1, 2), keys.transpose(1, 2),
                                                      values.transpose(1, 2), {}, 0,
                                                      form.causal);  // (B, heads, L, size)
  return at::linear(mixed.transpose(1, 2).reshape({batch, length, hidden}), out.use());
}

at::Tensor attention_onward(const at::Tensor& x, const kernels::CastWeight& qkv,
                            const kernels::CastWeight& out, const AttentionForm& form,
                            AttentionMemory& memory, std::int64_t first) {
  const auto count = x.size(1), end = first + count;
  const auto heads = at::linear(x, qkv.use()).view({1, count, 3, form.heads, -1});
  auto queries = heads.select(2, 0), keys = heads.select(2, 1);  // (1, n, heads, size)
  if (form.cos.defined()) {
    queries = rotate(queries, form, first);
    keys = rotate(keys, form, first);
  }
  memory.keys.slice(2, first, end).copy_(keys.transpose(1, 2));
  memory.values.slice(2, first, end).copy_(heads.select(2, 2).transpose(1, 2));
  std::optional<at::Tensor> seen;  // (n, end); the last place sees all
  if (count > 1) {
    const auto places = at::arange(end, x.options().dtype(at::kLong));
    seen = places.unsqueeze(0) <= places.slice(0, first).unsqueeze(1);
  }
  const auto mixed = at::scaled_dot_product_attention(
      queries.transpose(1, 2), memory.keys.slice(2, 0, end), memory.values.slice(2, 0, end), seen);
  return at::linear(mixed.transpose(1, 2).reshape(x.sizes()), out.use());
}

}  // namespace ubique::trm
