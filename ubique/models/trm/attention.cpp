// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/trm/attention.h"

#include <ATen/ATen.h>

#include "ubique/kernels/attention.h"
#include "ubique/kernels/branch.h"
#include "ubique/kernels/heads.h"
#include "ubique/kernels/mix.h"

namespace ubique::trm {
namespace {

constexpr double kTheta = 10000;

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

at::Tensor attention_mix(const at::Tensor& x, const kernels::CastWeight& qkv,
                         const kernels::CastWeight& out, const AttentionForm& form) {
  const auto [product, rest] = kernels::branch_off(x, qkv);  // (B, L, 3H)
  auto mixed = kernels::attend(product, form.heads, form.cos, form.sin, form.causal);
  if (!mixed.defined()) {
    const auto [queries, keys, values] =
        kernels::split_heads(product, form.heads, form.cos, form.sin);
    mixed = kernels::mix_heads(queries, keys, values, form.causal);  // (B, L, H)
  }
  return kernels::post_norm(rest, at::linear(mixed, out.use()));
}

at::Tensor attention_onward(const at::Tensor& x, const kernels::CastWeight& qkv,
                            const kernels::CastWeight& out, const AttentionForm& form,
                            AttentionMemory& memory, std::int64_t first) {
  const auto count = x.size(1), end = first + count;
  const auto places_of = [&](const at::Tensor& table) {
    return table.defined() ? table.slice(0, first, end) : table;
  };
  const auto [queries, keys, values] = kernels::split_heads(
      at::linear(x, qkv.use()), form.heads, places_of(form.cos), places_of(form.sin));
  memory.keys.slice(2, first, end).copy_(keys);  // (1, heads, n, size)
  memory.values.slice(2, first, end).copy_(values);
  std::optional<at::Tensor> seen;  // (n, end); the last place sees all
  if (count > 1) {
    const auto places = at::arange(end, x.options().dtype(at::kLong));
    seen = places.unsqueeze(0) <= places.slice(0, first).unsqueeze(1);
  }
  const auto mixed = at::scaled_dot_product_attention(queries, memory.keys.slice(2, 0, end),
                                                      memory.values.slice(2, 0, end), seen);
  return at::linear(mixed.transpose(1, 2).reshape(x.sizes()), out.use());
}

}  // namespace ubique::trm
