// SPDX-License-Identifier: Apache-2.0
// ubique::rotate_pairs on NVIDIA cards (sources/rotate_pairs.cu).
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <optional>

#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

bool does_rotate_pairs(const at::Tensor& x, std::int64_t size, std::int64_t ones,
                       at::ScalarType dtype) {
  if (!cuda::has_vectors(x)) return false;
  const auto lanes = cuda::lanes_of(x);
  return (dtype == x.scalar_type() || dtype == at::kFloat) && x.dim() == 3 && x.numel() > 0 &&
         size % lanes == 0 && ones % lanes == 0 && x.is_contiguous() && cuda::is_aligned(x) &&
         cuda::can_run_kernels();
}

at::Tensor cuda_rotate_pairs(const at::Tensor& x, const std::optional<at::Tensor>& cos,
                             const std::optional<at::Tensor>& sin, std::int64_t heads, bool relu,
                             std::int64_t ones, at::ScalarType dtype) {
  const auto samples = x.size(0), length = x.size(1), size = x.size(2) / heads;
  const auto lanes = cuda::lanes_of(x);
  const long long tokens = samples * length;
  auto y = at::empty({samples, heads, length, size + ones}, x.options().dtype(dtype));
  const auto* angles = cos ? cos->const_data_ptr<float>() : nullptr;
  const auto* other_angles = sin ? sin->const_data_ptr<float>() : nullptr;
  const auto flag = [](const char* name, bool on) {
    return fmt::format("{}={}", name, on ? 1 : 0);
  };
  cuda::kernel(
      x.device(), "rotate_pairs.cu", "rotate_pairs",
      {cuda::scalar_define(x), fmt::format("PARTS={}", size / lanes), fmt::format("ONES={}", ones),
       flag("RELU", relu), flag("WIDE", dtype == at::kFloat)})
      .launch(x.device(), cuda::sweep(x.device(), x.numel() / lanes), x.const_data_ptr(), angles,
              other_angles, y.mutable_data_ptr(), tokens, static_cast<int>(length),
              static_cast<int>(heads));
  return y;
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_rotate_pairs", TORCH_FN(does_rotate_pairs));
  library.impl("rotate_pairs", TORCH_FN(cuda_rotate_pairs));
}

}  // namespace ubique::backend
