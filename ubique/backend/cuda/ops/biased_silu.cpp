// SPDX-License-Identifier: Apache-2.0
// ubique::biased_silu_ on NVIDIA cards (sources/biased_silu.cu).
#include <ATen/ATen.h>
#include <torch/library.h>

#include <optional>

#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

bool does_biased_silu(const at::Tensor& x, const at::Tensor& bias) {
  return cuda::has_vectors(x) && x.dim() == 4 && x.numel() > 0 &&
         x.is_contiguous(at::MemoryFormat::ChannelsLast) && cuda::is_aligned(x) &&
         x.size(1) % cuda::lanes_of(x) == 0 && bias.scalar_type() == x.scalar_type() &&
         bias.is_contiguous() && cuda::is_aligned(bias) && cuda::can_run_kernels();
}

void cuda_biased_silu(const at::Tensor& x, const at::Tensor& bias,
                      const std::optional<at::Tensor>& residual,
                      const std::optional<at::Tensor>& sum) {
  const auto lanes = cuda::lanes_of(x);
  const long long items = x.numel() / lanes;
  const void* added = residual ? residual->const_data_ptr() : nullptr;
  void* kept = sum ? sum->data_ptr() : nullptr;
  cuda::kernel(x.device(), "biased_silu.cu", "biased_silu", {cuda::scalar_define(x)})
      .launch(x.device(), cuda::sweep(x.device(), items), x.data_ptr(), bias.const_data_ptr(),
              added, kept, items, static_cast<int>(x.size(1) / lanes));
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_biased_silu", TORCH_FN(does_biased_silu));
  library.impl("biased_silu_", TORCH_FN(cuda_biased_silu));
}

}  // namespace ubique::backend
