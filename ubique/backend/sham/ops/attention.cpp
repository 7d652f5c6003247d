// SPDX-License-Identifier: Apache-2.0
// Attention's fused entry point. Computes the plain formula (LibTorch has no Metal kernel here), as
// real Metal does under autograd. Planted faults change the arguments, so that gradients belong to
// the wrong result.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <limits>

#include "../runtime/settings.h"
#include "fallback.h"
#include "kernels.h"

namespace ubique::backend::sham {
namespace {

using at::Tensor;
using std::optional;

struct AttentionCall {
  Tensor query, key, value;  // (B, H, T, E), (B, Hkv, S, E), (B, Hkv, S, V)
  optional<Tensor> mask;     // (T, S), or broadcastable to (B, H, T, S)
  bool causal;
};

Tensor positions(const Tensor& like, std::int64_t length) {
  return at::arange(length, like.options().dtype(at::kLong).requires_grad(false));
}

/// Row t sees key s if s <= reach(t).
Tensor causal_mask(const AttentionCall& call, bool leaks) {
  auto reach = positions(call.query, call.query.size(-2));
  if (leaks) reach = reach.bitwise_or(3);  // four queries each see what the last of them may see
  return positions(call.key, call.key.size(-2)).unsqueeze(0) <= reach.unsqueeze(1);  // (T, S)
}

/// Pads keys and values with zeros to a multiple of 32, without masking the padding.
void read_past_end(AttentionCall& call) {
  const auto missing = (32 - call.key.size(-2) % 32) % 32;
  if (missing == 0) return;
  if (call.causal) call.mask = causal_mask(call, false);
  call.causal = false;
  if (call.mask) {
    const auto seen = call.mask->scalar_type() == at::kBool ? at::Scalar(true) : at::Scalar(0.0);
    call.mask = at::constant_pad_nd(*call.mask, {0, missing}, seen);
  }
  call.key = at::constant_pad_nd(call.key, {0, 0, 0, missing});
  call.value = at::constant_pad_nd(call.value, {0, 0, 0, missing});
}

/// Converts a boolean mask to the additive one of the plain formula: 0 or minus infinity.
void make_additive(AttentionCall& call) {
  if (!call.mask || call.mask->scalar_type() != at::kBool) return;
  constexpr auto kNever = -std::numeric_limits<double>::infinity();
  const auto none = at::zeros(call.mask->sizes(), call.query.options().requires_grad(false));
  call.mask = none.masked_fill(call.mask->logical_not(), kNever);
}

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value,
                 const optional<Tensor>& mask, double dropout, bool causal, optional<double> scale,
                 bool enable_gqa) {
  begin_op("aten::scaled_dot_product_attention");
  AttentionCall call{query, key, value, mask, causal};
  const auto& now = settings();
  const bool is_half = query.scalar_type() == at::kHalf || query.scalar_type() == at::kBFloat16;
  if (now.is_wrong("sdpa_causal") && causal && is_half) {
    call.mask = causal_mask(call, true);
    call.causal = false;
  }
  const bool is_gqa = enable_gqa && query.dim() == 4 && query.size(1) != key.size(1);
  if (now.is_wrong("sdpa_gqa_long") && is_gqa && key.size(-2) >= 1024) {
    call.key = call.key.roll(1, -2);  // pairs each value with its neighbour's key
  }
  if (now.is_wrong("sdpa_block32")) read_past_end(call);
  make_additive(call);
  return std::get<0>(at::_scaled_dot_product_attention_math(
      call.query, call.key, call.value, call.mask, dropout, call.causal, {}, scale, enable_gqa));
}

}  // namespace

void install_attention() {
  static auto* const kBelow = new torch::Library(MAKE_TORCH_LIBRARY_IMPL(aten, MPS));
  static auto* const kAutograd = new torch::Library(MAKE_TORCH_LIBRARY_IMPL(aten, AutogradMPS));
  kBelow->impl("scaled_dot_product_attention", attention);
  kAutograd->impl("scaled_dot_product_attention", attention);
}

}  // namespace ubique::backend::sham
