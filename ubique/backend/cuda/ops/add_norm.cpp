// SPDX-License-Identifier: Apache-2.0
// ubique::add_norm and its backward on NVIDIA cards (sources/add_norm.cu).
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include "../runtime/column_sums.h"
#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

using Optional = std::optional<at::Tensor>;
using Five = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

constexpr std::int64_t kMostWidth = 8192;  // eight warps with eight turns a thread

bool does_add_norm(const at::Tensor& residual, at::ScalarType dtype) {
  const bool narrow = dtype == at::kBFloat16 || dtype == at::kHalf;
  const auto stream = residual.scalar_type();
  const auto width = residual.dim() > 0 ? residual.size(-1) : 0;
  return narrow && (stream == at::kFloat || stream == dtype) && residual.numel() > 0 &&
         residual.is_contiguous() && cuda::is_aligned(residual) && width % 8 == 0 &&
         width <= kMostWidth && cuda::can_run_kernels();
}

/// Warps that share a row: up to six turns of four values for each thread, as far as that goes.
/// The backward kernel keeps a row and three sums of it in registers.
int warps_for(std::int64_t width) {
  int warps = 1;
  while (warps < 8 && width > 32 * 4 * 6 * warps) warps *= 2;
  return warps;
}

/// Warps of a block, as add_norm.cu.
int block_warps(std::int64_t width) { return warps_for(width) == 8 ? 8 : 12; }

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

/// Blocks that run at once, or as many as there is work for.
cuda::LaunchShape shape_of(const at::Tensor& residual, int blocks_per_processor) {
  const auto width = residual.size(-1), rows = residual.numel() / width;
  const std::int64_t at_once = block_warps(width) / warps_for(width);
  const auto most =
      std::int64_t{blocks_per_processor} * cuda::card_limits(residual.device()).processors;
  return {std::clamp<std::int64_t>((rows + at_once - 1) / at_once, 1, most),
          32 * block_warps(width), 0};
}

/// In f32, where the kernel may load four at a time.
at::Tensor per_channel(const at::Tensor& values) {
  const auto wide = values.to(at::kFloat).contiguous();
  return cuda::is_aligned(wide) ? wide : wide.clone();
}

/// The same of what may be missing.
struct Channels {
  explicit Channels(const Optional& values)
      : wide(values ? per_channel(*values) : at::Tensor()),
        at(values ? wide.const_data_ptr<float>() : nullptr) {}
  at::Tensor wide;
  const float* at;
};

std::tuple<at::Tensor, at::Tensor, at::Tensor> cuda_add_norm(
    const at::Tensor& residual, const Optional& branch, const Optional& branch_bias,
    const at::Tensor& weight, const Optional& bias, at::ScalarType dtype, bool center,
    double epsilon) {
  const long long rows = residual.numel() / residual.size(-1);
  const Channels scale(weight), shift(bias), offset(branch_bias);
  auto added = branch ? branch->to(dtype).contiguous() : at::Tensor();
  if (branch && !cuda::is_aligned(added)) added = added.clone();
  auto sum = branch ? at::empty_like(residual) : residual.detach();
  auto normed = at::empty(residual.sizes(), residual.options().dtype(dtype));
  auto statistics = at::empty({rows, 2}, residual.options().dtype(at::kFloat));
  norm_kernel("add_norm", residual, normed, center)
      .launch(residual.device(), shape_of(residual, 2), residual.const_data_ptr(),
              branch ? added.const_data_ptr() : nullptr, offset.at, scale.at, shift.at,
              sum.mutable_data_ptr(), normed.mutable_data_ptr(),
              statistics.mutable_data_ptr<float>(), rows, static_cast<float>(epsilon));
  return {sum, normed, statistics};
}

Five cuda_add_norm_backward(const Optional& of_sum, const at::Tensor& of_norm,
                            const at::Tensor& sum, const at::Tensor& weight,
                            const at::Tensor& statistics, bool center, bool added, bool weighs,
                            bool offset) {
  const auto width = sum.size(-1);
  const long long rows = sum.numel() / width;
  const Channels scale(weight);
  const auto incoming = of_sum ? of_sum->to(sum.scalar_type()).contiguous() : at::Tensor();
  const auto shape = shape_of(sum, 1);
  const int sums = offset ? 3 : 2;
  auto of_residual = at::empty_like(sum), of_branch = at::Tensor(), partial = at::Tensor();
  if (added) of_branch = at::empty_like(of_norm);
  if (weighs || offset) partial = at::empty({shape.blocks, sums, width}, statistics.options());
  norm_kernel("add_norm_backward", sum, of_norm, center)
      .launch(sum.device(), shape, of_sum ? incoming.const_data_ptr() : nullptr,
              of_norm.const_data_ptr(), sum.const_data_ptr(), scale.at,
              statistics.const_data_ptr<float>(), of_residual.mutable_data_ptr(),
              added ? of_branch.mutable_data_ptr() : nullptr,
              partial.defined() ? partial.mutable_data_ptr<float>() : nullptr, sums, rows);
  if (!partial.defined()) return {of_residual, of_branch, {}, {}, {}};
  const auto all = cuda::sum_rows(partial);  // (sums, H)
  return {of_residual, of_branch, all[0], all[1], offset ? all[2] : at::Tensor()};
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_add_norm", TORCH_FN(does_add_norm));
  library.impl("add_norm", TORCH_FN(cuda_add_norm));
  library.impl("add_norm_backward", TORCH_FN(cuda_add_norm_backward));
}

}  // namespace ubique::backend
