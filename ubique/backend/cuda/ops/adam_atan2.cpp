// SPDX-License-Identifier: Apache-2.0
// ubique::adam_atan2_ on NVIDIA cards (sources/adam_atan2.cu). Tensor pointers are passed as kernel
// arguments, so that a CUDA graph depends on no host memory.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>

#include "../runtime/kernel.h"

namespace ubique::backend {
namespace {

constexpr int kAdamTensors = 48, kAdamThreads = 256;
constexpr std::int64_t kAdamPerBlock = 4096;

/// As adam_atan2.cu declares them.
struct AdamTensors {
  float* weight;
  const float* gradient;
  float *mean, *square, *average;
  long long count, first_block;
};
struct AdamUpdate {
  AdamTensors tensors[kAdamTensors];
  int used = 0;
  float share1 = 0, share2 = 0;
  float log1 = 0, log2 = 0;
  float decay = 0, average_share = 0;
};

bool does_adam_atan2(const at::Tensor& weight) {
  return weight.scalar_type() == at::kFloat && weight.is_contiguous() && cuda::can_run_kernels();
}

void cuda_adam_atan2(at::TensorList weights, at::TensorList gradients, at::TensorList means,
                     at::TensorList squares, at::TensorList averages, const at::Tensor& lr,
                     const at::Tensor& step, const at::Tensor& bad, double beta1, double beta2,
                     double weight_decay, double average_share) {
  const auto device = weights[0].device();
  const auto& kernel = cuda::kernel(device, "adam_atan2.cu", "adam_atan2",
                                    {"SCALAR=2", fmt::format("TENSORS={}", kAdamTensors),
                                     fmt::format("PER_BLOCK={}", kAdamPerBlock)});
  for (std::size_t first = 0; first < weights.size(); first += kAdamTensors) {
    AdamUpdate update;
    update.share1 = static_cast<float>(1 - beta1);
    update.share2 = static_cast<float>(1 - beta2);
    update.log1 = static_cast<float>(std::log(beta1));
    update.log2 = static_cast<float>(std::log(beta2));
    update.decay = static_cast<float>(weight_decay);
    update.average_share = static_cast<float>(average_share);
    std::int64_t blocks = 0;
    std::vector<at::Tensor> dense;  // alive until the launch
    for (std::size_t i = first; i < std::min(first + kAdamTensors, weights.size()); ++i) {
      dense.push_back(gradients[i].contiguous());
      const auto count = weights[i].numel();
      update.tensors[update.used++] = {
          weights[i].mutable_data_ptr<float>(),
          dense.back().const_data_ptr<float>(),
          means[i].mutable_data_ptr<float>(),
          squares[i].mutable_data_ptr<float>(),
          averages.empty() ? nullptr : averages[i].mutable_data_ptr<float>(),
          count,
          blocks};
      blocks += (count + kAdamPerBlock - 1) / kAdamPerBlock;
    }
    kernel.launch(device, {blocks, kAdamThreads, 0}, update, lr.const_data_ptr<float>(),
                  step.const_data_ptr<float>(), bad.const_data_ptr<float>());
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_adam_atan2", TORCH_FN(does_adam_atan2));
  library.impl("adam_atan2_", TORCH_FN(cuda_adam_atan2));
}

}  // namespace ubique::backend
