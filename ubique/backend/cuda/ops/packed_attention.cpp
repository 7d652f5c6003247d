// SPDX-License-Identifier: Apache-2.0
// ubique::packed_attention on NVIDIA cards: LibTorch's flash kernels for sequences of different
// lengths. They share key heads among queries without copies.
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <torch/library.h>

#include "../runtime/kernel.h"

namespace ubique::backend {
namespace {

constexpr std::int64_t kMostHeadSize = 256;

/// Not in deterministic mode: the backward pass adds in a varying order.
bool does_packed_attention(const at::Tensor& queries) {
  const auto dtype = queries.scalar_type();
  return (dtype == at::kBFloat16 || dtype == at::kHalf) && queries.dim() == 4 &&
         queries.numel() > 0 && queries.size(3) % 8 == 0 && queries.size(3) <= kMostHeadSize &&
         cuda::card_limits(queries.device()).capability >= 80 &&
         at::globalContext().userEnabledFlashSDP() &&
         !at::globalContext().deterministicAlgorithms();
}

/// (B, heads, T, size) to (B·T, heads, size).
at::Tensor tokens_of(const at::Tensor& heads) { return heads.transpose(1, 2).flatten(0, 1); }

at::Tensor cuda_packed_attention(const at::Tensor& queries, const at::Tensor& keys,
                                 const at::Tensor& values, const at::Tensor& starts,
                                 std::int64_t window) {
  const auto batch = queries.size(0), length = queries.size(2);
  std::optional<std::int64_t> left, right;  // both unset: no window
  if (window > 0) left = window - 1, right = 0;
  const auto mixed = std::get<0>(at::_flash_attention_forward(
      tokens_of(queries), tokens_of(keys), tokens_of(values), starts, starts, length, length,
      /*dropout_p=*/0.0, /*is_causal=*/true, /*return_debug_mask=*/false, /*scale=*/std::nullopt,
      left, right));
  return mixed.unflatten(0, {batch, length}).transpose(1, 2);
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_packed_attention", TORCH_FN(does_packed_attention));
  library.impl("packed_attention", TORCH_FN(cuda_packed_attention));
}

// Differentiable by itself: it is made of LibTorch's ops.
TORCH_LIBRARY_IMPL(ubique, AutogradCUDA, library) {
  library.impl("packed_attention", TORCH_FN(cuda_packed_attention));
}

}  // namespace ubique::backend
