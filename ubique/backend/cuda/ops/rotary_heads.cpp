// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding (ubique::rotate_heads_) and its backward (ubique::join_heads) on NVIDIA
// cards (sources/heads.cu).
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

struct HeadStrides {
  long long sample, head, position;
};

bool does_heads(const at::Tensor& x, std::int64_t size) {
  return cuda::has_vectors(x) && x.numel() > 0 && size % (2 * cuda::lanes_of(x)) == 0 &&
         x.stride(-1) == 1 && cuda::can_run_kernels();
}

const cuda::Kernel& heads_kernel(const at::Tensor& x, const char* function, std::int64_t size) {
  return cuda::kernel(
      x.device(), "heads.cu", function,
      {cuda::scalar_define(x), fmt::format("HALF={}", size / 2 / cuda::lanes_of(x))});
}

/// x (B, L, 3, heads, size), contiguous.
void cuda_rotate_heads(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const auto size = x.size(4);
  const long long tokens = x.size(0) * x.size(1);
  const auto items = tokens * x.size(3) * size / 2 / cuda::lanes_of(x);
  heads_kernel(x, "rotate_heads", size)
      .launch(x.device(), cuda::sweep(x.device(), items), x.data_ptr(), cos.const_data_ptr<float>(),
              sin.const_data_ptr<float>(), tokens, static_cast<int>(x.size(1)),
              static_cast<int>(x.size(3)));
}

/// x if its rows are aligned vectors, in any order of the other axes; else a contiguous copy.
at::Tensor in_vectors(const at::Tensor& x) {
  const auto lanes = cuda::lanes_of(x);
  bool whole = x.stride(3) == 1 && cuda::is_aligned(x);
  for (int axis = 0; axis < 3; ++axis) whole = whole && x.stride(axis) % lanes == 0;
  return whole ? x : x.contiguous();
}

HeadStrides strides_of(const at::Tensor& x) {
  const auto lanes = cuda::lanes_of(x);
  return {x.stride(0) / lanes, x.stride(1) / lanes, x.stride(2) / lanes};
}

at::Tensor cuda_join_heads(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const at::Tensor& cos, const at::Tensor& sin) {
  const auto queries = in_vectors(q), keys = in_vectors(k), values = in_vectors(v);
  const auto heads = q.size(1), length = q.size(2), size = q.size(3);
  const long long tokens = q.size(0) * length;
  auto joined = at::empty({q.size(0), length, 3 * heads * size}, q.options());
  const auto items = tokens * heads * size / 2 / cuda::lanes_of(q);
  heads_kernel(q, "join_heads", size)
      .launch(q.device(), cuda::sweep(q.device(), items), queries.const_data_ptr(),
              keys.const_data_ptr(), values.const_data_ptr(), strides_of(queries), strides_of(keys),
              strides_of(values), joined.mutable_data_ptr(), cos.const_data_ptr<float>(),
              sin.const_data_ptr<float>(), tokens, static_cast<int>(length),
              static_cast<int>(heads));
  return joined;
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_heads", TORCH_FN(does_heads));
  library.impl("rotate_heads_", TORCH_FN(cuda_rotate_heads));
  library.impl("join_heads", TORCH_FN(cuda_join_heads));
}

}  // namespace ubique::backend
