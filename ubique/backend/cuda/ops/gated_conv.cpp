// SPDX-License-Identifier: Apache-2.0
// ubique::gated_conv on NVIDIA cards (sources/gated_conv.cu).
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

constexpr std::int64_t kRowsOfThread = 8;

bool does_gated_conv(const at::Tensor& x, const at::Tensor& weight) {
  return cuda::has_vectors(x) && x.dim() == 3 && x.numel() > 0 && x.is_contiguous() &&
         cuda::is_aligned(x) && x.size(2) % (2 * cuda::lanes_of(x)) == 0 &&
         weight.scalar_type() == x.scalar_type() && weight.size(-1) == 3 &&
         weight.is_contiguous() && cuda::is_aligned(weight) && cuda::can_run_kernels();
}

at::Tensor cuda_gated_conv(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const auto samples = x.size(0), frames = x.size(1), channels = x.size(2) / 2;
  const auto vectors = channels / cuda::lanes_of(x);
  const auto shift = bias.to(x.scalar_type()).contiguous();
  auto y = at::empty({samples, frames, channels}, x.options());
  const long long items = samples * ((frames + kRowsOfThread - 1) / kRowsOfThread) * vectors;
  cuda::kernel(x.device(), "gated_conv.cu", "gated_conv",
               {cuda::scalar_define(x), fmt::format("ROWS={}", kRowsOfThread)})
      .launch(x.device(), cuda::sweep(x.device(), items), x.const_data_ptr(),
              weight.const_data_ptr(), shift.const_data_ptr(), y.mutable_data_ptr(), items,
              static_cast<int>(frames), static_cast<int>(vectors));
  return y;
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_gated_conv", TORCH_FN(does_gated_conv));
  library.impl("gated_conv", TORCH_FN(cuda_gated_conv));
}

}  // namespace ubique::backend
