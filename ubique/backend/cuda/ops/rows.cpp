// SPDX-License-Identifier: Apache-2.0
// ubique::swiglu, ubique::post_norm and their backward on NVIDIA cards (sources/rows.cu).
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

using cuda::LaunchShape;

/// True for dense rows of a supported dtype whose width is a multiple of the vector lanes.
bool does_rows(const at::Tensor& x, std::int64_t width) {
  return cuda::has_vectors(x) && x.dim() == 3 && x.numel() > 0 && x.is_contiguous() &&
         width % cuda::lanes_of(x) == 0 && cuda::is_aligned(x) && cuda::can_run_kernels();
}

/// `vectors` per row is a compile-time constant of the norm kernels.
const cuda::Kernel& row_kernel(const at::Tensor& x, const char* function, std::int64_t vectors) {
  return cuda::kernel(x.device(), "rows.cu", function,
                      {cuda::scalar_define(x), fmt::format("VECTORS={}", vectors)});
}

at::Tensor cuda_swiglu(const at::Tensor& x) {
  auto y = at::empty({x.size(0), x.size(2)}, x.options());
  const long long rows = x.size(0), vectors = x.size(2) / cuda::lanes_of(x);
  row_kernel(x, "swiglu", 1)
      .launch(x.device(), cuda::sweep(x.device(), rows * vectors), x.const_data_ptr(),
              y.mutable_data_ptr(), rows, vectors);
  return y;
}

std::tuple<at::Tensor, at::Tensor> cuda_swiglu_backward(const at::Tensor& gradient,
                                                        const at::Tensor& x) {
  auto of_x = at::empty_like(x), y = at::empty_like(gradient);
  const long long rows = x.size(0), vectors = x.size(2) / cuda::lanes_of(x);
  row_kernel(x, "swiglu_backward", 1)
      .launch(x.device(), cuda::sweep(x.device(), rows * vectors), gradient.const_data_ptr(),
              x.const_data_ptr(), of_x.mutable_data_ptr(), y.mutable_data_ptr(), rows, vectors);
  return {of_x, y};
}

/// One block per sample and 32 vectors of channels.
LaunchShape middle_of(const at::Tensor& x, std::int64_t vectors) {
  return {x.size(0) * ((vectors + 31) / 32), cuda::kSweepThreads, 0};
}

std::tuple<at::Tensor, at::Tensor> cuda_post_norm(const at::Tensor& x, const at::Tensor& branch,
                                                  std::int64_t dim, double epsilon) {
  const auto f32 = x.options().dtype(at::kFloat);
  auto y = at::empty_like(x);
  const auto vectors = x.size(2) / cuda::lanes_of(x);
  if (dim == 2) {
    const long long rows = x.size(0) * x.size(1);
    auto inverse = at::empty({x.size(0), x.size(1)}, f32);
    row_kernel(x, "post_norm_last", vectors)
        .launch(x.device(), cuda::sweep(x.device(), rows * 32), x.const_data_ptr(),
                branch.const_data_ptr(), y.mutable_data_ptr(), inverse.mutable_data_ptr<float>(),
                rows, static_cast<float>(epsilon));
    return {y, inverse};
  }
  auto inverse = at::empty({x.size(0), x.size(2)}, f32);
  row_kernel(x, "post_norm_middle", vectors)
      .launch(x.device(), middle_of(x, vectors), x.const_data_ptr(), branch.const_data_ptr(),
              y.mutable_data_ptr(), inverse.mutable_data_ptr<float>(), static_cast<int>(x.size(1)),
              static_cast<float>(epsilon));
  return {y, inverse};
}

at::Tensor cuda_post_norm_backward(const at::Tensor& gradient, const at::Tensor& y,
                                   const at::Tensor& inverse, std::int64_t dim) {
  auto of_sum = at::empty_like(y);
  const auto vectors = y.size(2) / cuda::lanes_of(y);
  if (dim == 2) {
    const long long rows = y.size(0) * y.size(1);
    row_kernel(y, "post_norm_last_backward", vectors)
        .launch(y.device(), cuda::sweep(y.device(), rows * 32), gradient.const_data_ptr(),
                y.const_data_ptr(), inverse.const_data_ptr<float>(), of_sum.mutable_data_ptr(),
                rows);
  } else {
    row_kernel(y, "post_norm_middle_backward", vectors)
        .launch(y.device(), middle_of(y, vectors), gradient.const_data_ptr(), y.const_data_ptr(),
                inverse.const_data_ptr<float>(), of_sum.mutable_data_ptr(),
                static_cast<int>(y.size(1)));
  }
  return of_sum;
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_rows", TORCH_FN(does_rows));
  library.impl("swiglu", TORCH_FN(cuda_swiglu));
  library.impl("swiglu_backward", TORCH_FN(cuda_swiglu_backward));
  library.impl("post_norm", TORCH_FN(cuda_post_norm));
  library.impl("post_norm_backward", TORCH_FN(cuda_post_norm_backward));
}

}  // namespace ubique::backend
