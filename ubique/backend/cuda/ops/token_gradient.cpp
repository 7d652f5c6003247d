// SPDX-License-Identifier: Apache-2.0
// ubique::token_gradient_ on NVIDIA cards (sources/token_gradient.cu).
#include <ATen/ATen.h>
#include <torch/library.h>

#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

constexpr int kTokenThreads = 512;  // as token_gradient.cu

bool does_token_gradient(const at::Tensor& logits) {
  return cuda::has_vectors(logits) && logits.dim() == 2 && logits.numel() > 0 &&
         logits.is_contiguous() && logits.size(1) % cuda::lanes_of(logits) == 0 &&
         cuda::is_aligned(logits) && cuda::can_run_kernels();
}

std::tuple<at::Tensor, at::Tensor> cuda_token_gradient_(const at::Tensor& logits,
                                                        const at::Tensor& labels, bool gradient) {
  const auto f32 = logits.options().dtype(at::kFloat);
  auto loss = at::empty({logits.size(0)}, f32), correct = at::empty({logits.size(0)}, f32);
  const auto chosen = labels.to(at::kLong).contiguous();
  const int vectors = static_cast<int>(logits.size(1) / cuda::lanes_of(logits));
  const int write = gradient ? 1 : 0;
  cuda::kernel(logits.device(), "token_gradient.cu", "token_gradient",
               {cuda::scalar_define(logits)})
      .launch(logits.device(), {logits.size(0), kTokenThreads, 0}, logits.mutable_data_ptr(),
              chosen.const_data_ptr<std::int64_t>(), loss.mutable_data_ptr<float>(),
              correct.mutable_data_ptr<float>(), vectors, write);
  return {loss, correct};
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_token_gradient", TORCH_FN(does_token_gradient));
  library.impl("token_gradient_", TORCH_FN(cuda_token_gradient_));
}

}  // namespace ubique::backend
