// SPDX-License-Identifier: Apache-2.0
// ubique::rotate_heads_ and ubique::join_heads on NVIDIA cards (sources/heads.cu).
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>

#include "kernel.h"

namespace ubique::backend {
namespace {

constexpr int kHeadThreads = 256, kHeadBlocksPerProcessor = 16;

struct HeadStrides {
  long long sample, head, place;
};

int head_lanes(at::ScalarType dtype) { return dtype == at::kFloat ? 4 : 8; }

bool does_heads(const at::Tensor& x, std::int64_t size) {
  const auto dtype = x.scalar_type();
  const bool known = dtype == at::kHalf || dtype == at::kBFloat16 || dtype == at::kFloat;
  return known && x.numel() > 0 && size % (2 * head_lanes(dtype)) == 0 && x.stride(-1) == 1 &&
         cuda::can_run_kernels();
}

const cuda::Kernel& heads_kernel(const at::Tensor& x, const char* function, std::int64_t size) {
  const auto dtype = x.scalar_type();
  const int scalar = dtype == at::kHalf ? 0 : dtype == at::kBFloat16 ? 1 : 2;
  return cuda::kernel(
      x.device(), "heads.cu", function,
      {fmt::format("SCALAR={}", scalar), fmt::format("HALF={}", size / 2 / head_lanes(dtype))});
}

cuda::LaunchShape heads_shape(const at::Tensor& x, long long items) {
  const auto most =
      std::int64_t{kHeadBlocksPerProcessor} * cuda::card_limits(x.device()).processors;
  return {std::clamp<std::int64_t>((items + kHeadThreads - 1) / kHeadThreads, 1, most),
          kHeadThreads, 0};
}

/// x (B, L, 3, heads, size), contiguous.
void cuda_rotate_heads(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const auto size = x.size(4);
  const long long tokens = x.size(0) * x.size(1);
  const auto items = tokens * x.size(3) * size / 2 / head_lanes(x.scalar_type());
  heads_kernel(x, "rotate_heads", size)
      .launch(x.device(), heads_shape(x, items), x.data_ptr(), cos.const_data_ptr<float>(),
              sin.const_data_ptr<float>(), tokens, static_cast<int>(x.size(1)),
              static_cast<int>(x.size(3)));
}

/// Rows of whole vectors, whatever the order of the other axes; a copy if they are not.
at::Tensor in_vectors(const at::Tensor& x) {
  const auto lanes = head_lanes(x.scalar_type());
  bool whole = x.stride(3) == 1 && reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % 16 == 0;
  for (int axis = 0; axis < 3; ++axis) whole = whole && x.stride(axis) % lanes == 0;
  return whole ? x : x.contiguous();
}

HeadStrides strides_of(const at::Tensor& x) {
  const auto lanes = head_lanes(x.scalar_type());
  return {x.stride(0) / lanes, x.stride(1) / lanes, x.stride(2) / lanes};
}

at::Tensor cuda_join_heads(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const at::Tensor& cos, const at::Tensor& sin) {
  const auto queries = in_vectors(q), keys = in_vectors(k), values = in_vectors(v);
  const auto heads = q.size(1), length = q.size(2), size = q.size(3);
  const long long tokens = q.size(0) * length;
  auto joined = at::empty({q.size(0), length, 3 * heads * size}, q.options());
  const auto items = tokens * heads * size / 2 / head_lanes(q.scalar_type());
  heads_kernel(q, "join_heads", size)
      .launch(q.device(), heads_shape(q, items), queries.const_data_ptr(), keys.const_data_ptr(),
              values.const_data_ptr(), strides_of(queries), strides_of(keys), strides_of(values),
              joined.mutable_data_ptr(), cos.const_data_ptr<float>(), sin.const_data_ptr<float>(),
              tokens, static_cast<int>(length), static_cast<int>(heads));
  return joined;
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_heads", TORCH_FN(does_heads));
  library.impl("rotate_heads_", TORCH_FN(cuda_rotate_heads));
  library.impl("join_heads", TORCH_FN(cuda_join_heads));
}

}  // namespace ubique::backend
