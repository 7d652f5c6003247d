// SPDX-License-Identifier: Apache-2.0
// ubique::token_gradient_ on NVIDIA cards (sources/training/token_gradient.cu).
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

/// Shared memory for a row, or 0 where it does not fit beside the kernel's own.
int kept_bytes(const at::Tensor& logits) {
  constexpr std::int64_t kOwn = 2048;
  const auto row = logits.size(1) * static_cast<std::int64_t>(logits.element_size());
  const auto fits = row + kOwn <= cuda::card_limits(logits.device()).shared_bytes;
  return fits ? static_cast<int>(row) : 0;
}

std::tuple<at::Tensor, at::Tensor> cuda_token_gradient_(const at::Tensor& logits,
                                                        const at::Tensor& labels, bool gradient) {
  const auto f32 = logits.options().dtype(at::kFloat);
  auto loss = at::empty({logits.size(0)}, f32), correct = at::empty({logits.size(0)}, f32);
  const auto chosen = labels.to(at::kLong).contiguous();
  const int vectors = static_cast<int>(logits.size(1) / cuda::lanes_of(logits));
  const int write = gradient ? 1 : 0;
  const int kept = kept_bytes(logits);
  cuda::kernel(logits.device(), "token_gradient.cu", "token_gradient",
               {cuda::scalar_define(logits), kept > 0 ? "KEPT=1" : "KEPT=0"})
      .launch(logits.device(), {logits.size(0), kTokenThreads, kept}, logits.mutable_data_ptr(),
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
