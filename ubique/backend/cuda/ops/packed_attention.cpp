// SPDX-License-Identifier: Apache-2.0
// ubique::packed_attention on NVIDIA cards: LibTorch's flash kernels for sequences of different
// lengths; for rows that are one document each, on Hopper, cuDNN's. Both share key heads among
// queries without copies.
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

constexpr std::int64_t kMostCudnnHeadSize = 128;

/// H200, 12 heads of 64 that share a key: 1.9 times as fast as the flash kernels over 1024 tokens
/// (gradients: 1.4). With documents of different lengths cuDNN prepares itself anew in every call.
bool is_for_cudnn(const at::Tensor& queries) {
  return queries.size(2) > 1 && queries.size(3) <= kMostCudnnHeadSize &&
         at::globalContext().userEnabledCuDNNSDP() &&
         cuda::card_limits(queries.device()).capability == 90;
}

/// (B, heads, T, size) to (B·T, heads, size).
at::Tensor tokens_of(const at::Tensor& heads) { return heads.transpose(1, 2).flatten(0, 1); }

at::Tensor cuda_packed_attention(const at::Tensor& queries, const at::Tensor& keys,
                                 const at::Tensor& values, const std::optional<at::Tensor>& given,
                                 std::int64_t window) {
  const auto batch = queries.size(0), length = queries.size(2);
  if (!given && (window == 0 || window >= length) && is_for_cudnn(queries)) {
    return std::get<0>(at::_scaled_dot_product_cudnn_attention(
        queries, keys, values, /*attn_bias=*/std::nullopt,
        /*compute_log_sumexp=*/at::GradMode::is_enabled(), /*dropout_p=*/0.0, /*is_causal=*/true));
  }
  const auto starts =
      given ? *given : at::arange(0, batch * length + 1, length, queries.options().dtype(at::kInt));
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
