// SPDX-License-Identifier: Apache-2.0
// Attention of long sequences on Hopper (sources/flash.cu). cuDNN computes the backward from our
// result and log-sum-exp (ubique::flash and ubique::flash_backward).
#include "flash.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../runtime/kernel.h"
#include "../runtime/tensor_map.h"

namespace ubique::backend {
namespace {

constexpr std::int64_t kFlashHead = 64, kFlashMinLength = 129;
constexpr int kFlashThreads = 512, kFlashStages = 4, kFlashKeys = 96, kFlashQueries = 192;

/// Tensor map with boxes of `positions` positions of one head.
cuda::TensorMap heads_map(const at::Tensor& qkv, std::int64_t length, std::int64_t heads,
                          int positions) {
  const auto slices = 3 * heads;
  return cuda::swizzled_map(qkv, {kFlashHead, slices, length, qkv.size(0)},
                            {kFlashHead, slices * kFlashHead, length * slices * kFlashHead},
                            {static_cast<int>(kFlashHead), 1, positions, 1});
}

/// True if queries, keys and values (B, heads, L, 64) are views of one (B, L, 3, heads, 64), as
/// returned by split_heads.
bool share_qkv(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const auto heads = q.size(1), length = q.size(2), width = heads * kFlashHead;
  const std::vector<std::int64_t> strides = {length * 3 * width, kFlashHead, 3 * width, 1};
  const auto from = [&](const at::Tensor& x) {
    return static_cast<const char*>(x.const_data_ptr()) - static_cast<const char*>(q.data_ptr());
  };
  const auto alike = [&](const at::Tensor& x) {
    return x.sizes() == q.sizes() && x.strides() == at::IntArrayRef(strides);
  };
  return alike(q) && alike(k) && alike(v) && from(k) == 2 * width && from(v) == 4 * width;
}

/// Not in deterministic mode: cuDNN's backward adds in a varying order.
bool does_flash(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  return q.scalar_type() == at::kBFloat16 && q.dim() == 4 && q.numel() > 0 &&
         q.size(3) == kFlashHead && q.size(2) >= kFlashMinLength && share_qkv(q, k, v) &&
         reinterpret_cast<std::uintptr_t>(q.const_data_ptr()) % 16 == 0 &&
         cuda::can_run_kernels() && cuda::card_limits(q.device()).capability == 90 &&
         at::globalContext().userEnabledCuDNNSDP() &&
         !at::globalContext().deterministicAlgorithms();
}

std::tuple<at::Tensor, at::Tensor> cuda_flash(const at::Tensor& q, const at::Tensor&,
                                              const at::Tensor&, bool causal) {
  const auto batch = q.size(0), heads = q.size(1), length = q.size(2);
  auto mixed = at::empty({batch, length, heads * kFlashHead}, q.options());
  auto logs = at::empty({batch, heads, length, 1}, q.options().dtype(at::kFloat));
  cuda::flash(q.transpose(1, 2), heads, causal, mixed, logs);
  return {mixed, logs};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> cuda_flash_backward(
    const at::Tensor& gradient, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const at::Tensor& mixed, const at::Tensor& logs, bool causal) {
  const auto heads = q.size(1), length = q.size(2);
  const auto by_heads = [&](const at::Tensor& x) {
    return x.view({x.size(0), length, heads, kFlashHead}).transpose(1, 2);  // (B, heads, L, 64)
  };
  const auto seed = at::empty({}, q.options().dtype(at::kLong));  // unused: no dropout
  return at::_scaled_dot_product_cudnn_attention_backward(by_heads(gradient), q, k, v,
                                                          by_heads(mixed), logs, seed, seed, {}, {},
                                                          {}, length, length, 0.0, causal);
}

}  // namespace

void cuda::flash(const at::Tensor& qkv, std::int64_t heads, bool causal, at::Tensor& mixed,
                 const at::Tensor& logs) {
  const auto length = qkv.size(1);
  const auto tiles = qkv.size(0) * heads * ((length + kFlashQueries - 1) / kFlashQueries);
  const int shared = kFlashStages * 2 * kFlashKeys * 128 + kFlashQueries * 128 + 256;
  const auto blocks = std::min<std::int64_t>(tiles, card_limits(qkv.device()).processors);
  const auto scale = std::numbers::log2e / std::sqrt(static_cast<double>(kFlashHead));
  kernel(qkv.device(), "flash.cu", "flash",
         {fmt::format("STAGES={}", kFlashStages), fmt::format("LENGTH={}", length),
          fmt::format("HEADS={}", heads), fmt::format("CAUSAL={}", causal ? 1 : 0)})
      .launch(qkv.device(), {blocks, kFlashThreads, shared}, heads_map(qkv, length, heads, 64),
              heads_map(qkv, length, heads, kFlashKeys), mixed.mutable_data_ptr(),
              logs.defined() ? logs.mutable_data_ptr() : nullptr, static_cast<int>(tiles),
              static_cast<float>(scale));
}

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_flash", TORCH_FN(does_flash));
  library.impl("flash", TORCH_FN(cuda_flash));
  library.impl("flash_backward", TORCH_FN(cuda_flash_backward));
}

}  // namespace ubique::backend
