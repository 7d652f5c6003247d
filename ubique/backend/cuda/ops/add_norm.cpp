// SPDX-License-Identifier: Apache-2.0
// ubique::add_norm and its backward on NVIDIA cards (sources/add_norm.cu).
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

using Optional = std::optional<at::Tensor>;

constexpr int kNormBlock = 256;            // as add_norm.cu
constexpr std::int64_t kMostWidth = 8192;  // eight warps with four vectors a thread
constexpr int kBlocksOfSums = 4;           // per processor: few partial sums of weights

bool does_add_norm(const at::Tensor& residual, at::ScalarType dtype) {
  const bool narrow = dtype == at::kBFloat16 || dtype == at::kHalf;
  const auto stream = residual.scalar_type();
  const auto width = residual.dim() > 0 ? residual.size(-1) : 0;
  return narrow && (stream == at::kFloat || stream == dtype) && residual.numel() > 0 &&
         residual.is_contiguous() && cuda::is_aligned(residual) && width % 8 == 0 &&
         width <= kMostWidth && cuda::can_run_kernels();
}

/// Warps that share a row: two vectors of eight values for each thread, more from 4096 values on.
/// The fewer registers a thread needs, the more of them wait for memory at once.
int warps_for(std::int64_t width) {
  int warps = 1;
  while (warps < 8 && width > 32 * 8 * 2 * warps) warps *= 2;
  return warps;
}

const cuda::Kernel& norm_kernel(const char* function, const at::Tensor& residual,
                                const at::Tensor& normed, bool center) {
  const auto width = residual.size(-1);
  return cuda::kernel(
      residual.device(), "add_norm.cu", function,
      {cuda::scalar_define(normed), fmt::format("WIDTH={}", width),
       fmt::format("WARPS={}", warps_for(width)),
       fmt::format("WIDE_RESIDUAL={}", residual.scalar_type() == at::kFloat ? 1 : 0),
       fmt::format("CENTER={}", center ? 1 : 0)});
}

std::int64_t groups_of(const at::Tensor& residual) { return 8 / warps_for(residual.size(-1)); }

cuda::LaunchShape shape_of(const at::Tensor& residual, int blocks_per_processor) {
  const auto rows = residual.numel() / residual.size(-1);
  const auto groups = groups_of(residual);
  const auto most =
      std::int64_t{blocks_per_processor} * cuda::card_limits(residual.device()).processors;
  return {std::clamp<std::int64_t>((rows + groups - 1) / groups, 1, most), kNormBlock, 0};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> cuda_add_norm(
    const at::Tensor& residual, const Optional& branch, const at::Tensor& weight,
    const Optional& bias, at::ScalarType dtype, bool center, double epsilon) {
  const long long rows = residual.numel() / residual.size(-1);
  const auto scale = weight.to(at::kFloat).contiguous();
  const auto shift = bias ? bias->to(at::kFloat).contiguous() : at::Tensor();
  const auto added = branch ? branch->to(dtype).contiguous() : at::Tensor();
  auto sum = branch ? at::empty_like(residual) : residual.detach();
  auto normed = at::empty(residual.sizes(), residual.options().dtype(dtype));
  auto statistics = at::empty({rows, 2}, residual.options().dtype(at::kFloat));
  norm_kernel("add_norm", residual, normed, center)
      .launch(residual.device(), shape_of(residual, 16), residual.const_data_ptr(),
              branch ? added.const_data_ptr() : nullptr, scale.const_data_ptr<float>(),
              bias ? shift.const_data_ptr<float>() : nullptr, sum.mutable_data_ptr(),
              normed.mutable_data_ptr(), statistics.mutable_data_ptr<float>(), rows,
              static_cast<float>(epsilon));
  return {sum, normed, statistics};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> cuda_add_norm_backward(
    const Optional& of_sum, const at::Tensor& of_norm, const at::Tensor& sum,
    const at::Tensor& weight, const at::Tensor& statistics, bool center, bool added, bool weighs) {
  const auto width = sum.size(-1);
  const long long rows = sum.numel() / width;
  const auto scale = weight.to(at::kFloat).contiguous();
  const auto incoming = of_sum ? of_sum->to(sum.scalar_type()).contiguous() : at::Tensor();
  const auto shape = shape_of(sum, kBlocksOfSums);
  auto of_residual = at::empty_like(sum), of_branch = at::Tensor(), partial = at::Tensor();
  if (added) of_branch = at::empty_like(of_norm);
  if (weighs) {
    partial = at::empty({shape.blocks, 2, width}, statistics.options());
  }
  norm_kernel("add_norm_backward", sum, of_norm, center)
      .launch(sum.device(), shape, of_sum ? incoming.const_data_ptr() : nullptr,
              of_norm.const_data_ptr(), sum.const_data_ptr(), scale.const_data_ptr<float>(),
              statistics.const_data_ptr<float>(), of_residual.mutable_data_ptr(),
              added ? of_branch.mutable_data_ptr() : nullptr,
              weighs ? partial.mutable_data_ptr<float>() : nullptr, rows);
  if (!weighs) return {of_residual, of_branch, {}, {}};
  const auto sums = partial.sum(0);  // (2, H)
  return {of_residual, of_branch, sums[0], sums[1]};
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_add_norm", TORCH_FN(does_add_norm));
  library.impl("add_norm", TORCH_FN(cuda_add_norm));
  library.impl("add_norm_backward", TORCH_FN(cuda_add_norm_backward));
}

}  // namespace ubique::backend
