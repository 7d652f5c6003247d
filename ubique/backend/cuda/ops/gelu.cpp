// SPDX-License-Identifier: Apache-2.0
// ubique::biased_gelu and its backward on NVIDIA cards (sources/training/gelu.cu).
#include <ATen/ATen.h>
#include <torch/library.h>

#include "../runtime/column_sums.h"
#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

using Optional = std::optional<at::Tensor>;

bool does_biased_gelu(const at::Tensor& x) {
  return x.scalar_type() != at::kFloat && cuda::has_vectors(x) && x.dim() > 0 && x.numel() > 0 &&
         x.is_contiguous() && x.size(-1) % 8 == 0 && cuda::is_aligned(x) && cuda::can_run_kernels();
}

const cuda::Kernel& gelu_kernel(const char* function, const at::Tensor& x) {
  return cuda::kernel(x.device(), "gelu.cu", function, {cuda::scalar_define(x)});
}

struct GeluSizes {
  long long rows;
  int vectors;
};
GeluSizes sizes_of(const at::Tensor& x) {
  return {x.numel() / x.size(-1), static_cast<int>(x.size(-1) / 8)};
}

/// The bias in f32, or none.
at::Tensor wide_bias(const Optional& bias) {
  return bias ? bias->to(at::kFloat).contiguous() : at::Tensor();
}

at::Tensor cuda_biased_gelu(const at::Tensor& x, const Optional& bias) {
  auto y = at::empty_like(x);
  const auto shift = wide_bias(bias);
  const auto [rows, vectors] = sizes_of(x);
  gelu_kernel("gelu", x).launch(x.device(), cuda::tiles_for(x.device(), rows, vectors, 4).shape,
                                x.const_data_ptr(), bias ? shift.const_data_ptr<float>() : nullptr,
                                y.mutable_data_ptr(), rows, vectors);
  return y;
}

at::Tensor cuda_biased_gelu_backward(const at::Tensor& of_y, const at::Tensor& x,
                                     const Optional& bias, bool again) {
  const auto shift = wide_bias(bias);
  const auto [rows, vectors] = sizes_of(x);
  const auto tiles = cuda::tiles_for(x.device(), rows, vectors, 3);
  auto partial = at::empty({tiles.slabs, x.size(-1)}, x.options().dtype(at::kFloat));
  void* const gradient = of_y.mutable_data_ptr();
  void* const values = x.mutable_data_ptr();
  gelu_kernel("gelu_backward", x)
      .launch(x.device(), tiles.shape, gradient, values,
              bias ? shift.const_data_ptr<float>() : nullptr, gradient, again ? values : nullptr,
              partial.mutable_data_ptr<float>(), rows, vectors);
  return cuda::sum_rows(partial);
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_biased_gelu", TORCH_FN(does_biased_gelu));
  library.impl("biased_gelu", TORCH_FN(cuda_biased_gelu));
  library.impl("biased_gelu_backward", TORCH_FN(cuda_biased_gelu_backward));
}

}  // namespace ubique::backend
