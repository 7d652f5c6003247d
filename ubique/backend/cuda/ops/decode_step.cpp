// SPDX-License-Identifier: Apache-2.0
// The other ops of a decoding step on NVIDIA cards: attention over the caches
// (sources/decode/decode_attend.cu), the embedding and the choice (sources/decode/decode_ends.cu).
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <cmath>
#include <numbers>

#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

constexpr std::int64_t kAttendHeads = 16, kDecodeCapability = 80;
constexpr int kEndThreads = 256;

/// As the kernel's structures.
struct HeadPlaces {
  int row, query, key, value, query_stride, key_stride;
};
struct DecodeTexts {
  void *keys, *values;
  int kv_heads, capacity, window;
};
struct HeadTurning {
  const float *query_norm, *key_norm, *cos, *sin;
  int size;
  float epsilon;
};

bool does_decode_step(const at::Tensor& weight, std::int64_t rows, std::int64_t head_size) {
  const auto dtype = weight.scalar_type();
  return (dtype == at::kBFloat16 || dtype == at::kHalf) && rows >= 1 && rows <= 16 &&
         (head_size == 64 || head_size == 128) && cuda::can_run_kernels() &&
         cuda::card_limits(weight.device()).capability >= kDecodeCapability;
}

bool launches_early(c10::Device device) { return cuda::card_limits(device).capability >= 90; }

const float* values_or_null(const at::Tensor& tensor) {
  return tensor.numel() > 0 ? tensor.const_data_ptr<float>() : nullptr;
}

HeadPlaces places_of(std::int64_t heads, std::int64_t kv_heads, std::int64_t size, bool by_head) {
  const auto h = static_cast<int>(heads), k = static_cast<int>(kv_heads);
  const auto s = static_cast<int>(size);
  if (by_head) return {3 * h * s, 0, s, 2 * s, 3 * s, 3 * s};
  return {(h + 2 * k) * s, 0, h * s, (h + k) * s, s, s};
}

int attend_warps(std::int64_t size) { return size == 64 ? 16 : 8; }

/// Shared memory of the kernel, in its order.
std::int64_t attend_bytes(std::int64_t size) {
  const auto warps = attend_warps(size);
  return (kAttendHeads + 2) * size * 2 + warps * size * 4 + warps * kAttendHeads * (size + 2) * 4 +
         16;
}

void cuda_decode_attend(const at::Tensor& qkv, const at::Tensor& inputs, const at::Tensor& keys,
                        const at::Tensor& values, const at::Tensor& cos, const at::Tensor& sin,
                        const at::Tensor& q_norm, const at::Tensor& k_norm,
                        const at::Tensor& partial, const at::Tensor& counters,
                        const at::Tensor& mixed, std::int64_t heads, bool by_head,
                        std::int64_t window, double epsilon) {
  const auto device = qkv.device();
  const auto size = keys.size(3), kv_heads = keys.size(1);
  const auto splits = partial.size(1), units = counters.numel();
  const HeadTurning turning{values_or_null(q_norm),
                            values_or_null(k_norm),
                            values_or_null(cos),
                            values_or_null(sin),
                            cos.numel() > 0 ? static_cast<int>(cos.size(1)) : 0,
                            static_cast<float>(epsilon)};
  const DecodeTexts texts{keys.mutable_data_ptr(), values.mutable_data_ptr(),
                          static_cast<int>(kv_heads), static_cast<int>(keys.size(2)),
                          static_cast<int>(window)};
  const auto scale = std::numbers::log2e / std::sqrt(static_cast<double>(size));
  cuda::kernel(device, "decode_attend.cu", "decode_attend",
               {cuda::scalar_define(qkv), fmt::format("SIZE={}", size),
                fmt::format("WARPS={}", attend_warps(size))})
      .launch(device,
              {units * splits, 32 * attend_warps(size), static_cast<int>(attend_bytes(size)),
               launches_early(device)},
              qkv.const_data_ptr(), places_of(heads, kv_heads, size, by_head),
              static_cast<const void*>(inputs.const_data_ptr<std::int64_t>() + inputs.size(1)),
              texts, turning, partial.mutable_data_ptr(), counters.mutable_data_ptr(),
              mixed.mutable_data_ptr(), static_cast<int>(heads), static_cast<int>(splits),
              static_cast<float>(scale));
}

/// The first kernel of a step: it waits for all earlier work, which may have written weights.
void cuda_decode_embed(const at::Tensor& inputs, const at::Tensor& tokens,
                       const at::Tensor& positions, const at::Tensor& x) {
  const auto device = x.device();
  const auto rows = x.size(0);
  cuda::kernel(device, "decode_ends.cu", "decode_embed", {cuda::scalar_define(x)})
      .launch(device, {rows, kEndThreads, 0}, inputs.const_data_ptr(), tokens.const_data_ptr(),
              positions.numel() > 0 ? positions.const_data_ptr() : static_cast<void*>(nullptr),
              x.mutable_data_ptr(), static_cast<int>(rows),
              static_cast<int>(x.size(1) / cuda::lanes_of(x)));
}

void cuda_decode_choose(const at::Tensor& best, const at::Tensor& inputs, std::int64_t capacity,
                        const at::Tensor& likeliest, const at::Tensor& next) {
  const auto device = best.device();
  const auto rows = inputs.size(1);
  cuda::kernel(device, "decode_ends.cu", "decode_choose", {"SCALAR=1"})
      .launch(device, {rows, kEndThreads, kEndThreads * 8, launches_early(device)},
              best.const_data_ptr(), inputs.const_data_ptr(), likeliest.mutable_data_ptr(),
              next.mutable_data_ptr(), static_cast<int>(best.size(0)), static_cast<int>(rows),
              static_cast<int>(capacity));
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_decode_step", TORCH_FN(does_decode_step));
  library.impl("decode_attend", TORCH_FN(cuda_decode_attend));
  library.impl("decode_embed", TORCH_FN(cuda_decode_embed));
  library.impl("decode_choose", TORCH_FN(cuda_decode_choose));
}

}  // namespace ubique::backend
