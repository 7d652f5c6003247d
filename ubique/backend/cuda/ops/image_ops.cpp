// SPDX-License-Identifier: Apache-2.0
// The image ops of kernels/dispatch/fused_conv.h on NVIDIA cards (sources/pictures.cu).
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>

#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

using cuda::LaunchShape;

/// As pictures.cu declares it.
struct ImageExtent {
  int rows, height, width, groups;
};

constexpr int kRangeParts = 32;                   // blocks per map that search its range
constexpr std::int64_t kMaxImageChannels = 2048;  // their sums fit into one block's shared memory

std::vector<std::string> image_defines(const at::Tensor& x, std::int64_t stride = 1,
                                       bool from_floats = false) {
  return {cuda::scalar_define(x), fmt::format("STRIDE={}", stride),
          fmt::format("FROM={}", from_floats ? 1 : 0), fmt::format("PARTS={}", kRangeParts),
          "GROUPS=1"};
}

ImageExtent extent_of(const at::Tensor& x) {
  return {static_cast<int>(x.size(0) * x.size(2)), static_cast<int>(x.size(2)),
          static_cast<int>(x.size(3)), static_cast<int>(x.size(1) / cuda::lanes_of(x))};
}

/// Launch shape for all vectors of x.
LaunchShape sweep_all(const at::Tensor& x, int threads = cuda::kSweepThreads) {
  return cuda::sweep(x.device(), x.numel() / cuda::lanes_of(x), threads);
}

at::Tensor empty_image(const at::Tensor& like, std::int64_t height, std::int64_t width,
                       at::ScalarType dtype) {
  return at::empty({like.size(0), like.size(1), height, width},
                   like.options().dtype(dtype).memory_format(at::MemoryFormat::ChannelsLast));
}

/// Launches a kernel over all vectors of `small`, the side with fewer pixels.
template <typename... Args>
void sweep_image(const char* function, const at::Tensor& small, std::int64_t stride, Args... args) {
  cuda::kernel(small.device(), "pictures.cu", function, image_defines(small, stride))
      .launch(small.device(), sweep_all(small), args..., extent_of(small));
}

bool has_image_kernels(const at::Tensor&) { return cuda::can_run_kernels(); }

bool does_image_ops(const at::Tensor& x, std::int64_t channels) {
  return cuda::has_vectors(x) && x.dim() == 4 && x.numel() > 0 &&
         x.is_contiguous(at::MemoryFormat::ChannelsLast) && channels % 8 == 0 &&
         channels <= kMaxImageChannels && cuda::can_run_kernels();
}

at::Tensor cuda_upsample_twice(const at::Tensor& x) {
  auto result = empty_image(x, 2 * x.size(2), 2 * x.size(3), x.scalar_type());
  sweep_image("upsample_twice", x, 1, x.const_data_ptr(), result.mutable_data_ptr());
  return result;
}

at::Tensor cuda_upsample_twice_backward(const at::Tensor& gradient) {
  const auto dense = gradient.contiguous(at::MemoryFormat::ChannelsLast);
  auto result =
      empty_image(gradient, gradient.size(2) / 2, gradient.size(3) / 2, gradient.scalar_type());
  sweep_image("upsample_twice_gradient", result, 1, dense.const_data_ptr(),
              result.mutable_data_ptr());
  return result;
}

std::tuple<at::Tensor, at::Tensor> cuda_max_pool(const at::Tensor& x, std::int64_t stride,
                                                 bool marks) {
  const auto height = x.size(2) / stride, width = x.size(3) / stride;
  auto result = empty_image(x, height, width, x.scalar_type());
  auto where = marks ? empty_image(x, height, width, at::kByte) : at::Tensor();
  sweep_image("max_pool", result, stride, x.const_data_ptr(), result.mutable_data_ptr(),
              marks ? where.mutable_data_ptr() : nullptr);
  return {result, where};
}

at::Tensor cuda_max_pool_backward(const at::Tensor& gradient, const at::Tensor& where,
                                  std::int64_t stride) {
  const auto dense = gradient.contiguous(at::MemoryFormat::ChannelsLast);
  auto result =
      empty_image(dense, dense.size(2) * stride, dense.size(3) * stride, gradient.scalar_type());
  sweep_image("max_pool_gradient", dense, stride, dense.const_data_ptr(), where.const_data_ptr(),
              result.mutable_data_ptr());
  return result;
}

std::tuple<at::Tensor, at::Tensor> cuda_relu_bias_backward(const at::Tensor& gradient,
                                                           const at::Tensor& y) {
  const auto dense = gradient.to(y.scalar_type()).contiguous(at::MemoryFormat::ChannelsLast);
  const auto groups = static_cast<int>(y.size(1) / cuda::lanes_of(y));
  // Each thread keeps the same channels.
  const int threads = std::max(cuda::kSweepThreads / groups * groups, groups);
  const auto blocks = sweep_all(y, threads).blocks;
  const auto floats = y.options().dtype(at::kFloat).memory_format(std::nullopt);
  auto rows = at::empty({blocks, y.size(1)}, floats), of_bias = at::empty({y.size(1)}, floats);
  auto result = at::empty_like(dense);
  const int shared = threads * static_cast<int>(cuda::lanes_of(y) * sizeof(float));
  cuda::kernel(y.device(), "pictures.cu", "relu_gradient", image_defines(y))
      .launch(y.device(), LaunchShape{blocks, threads, shared}, dense.const_data_ptr(),
              y.const_data_ptr(), result.mutable_data_ptr(),
              static_cast<long long>(y.numel() / cuda::lanes_of(y)), groups,
              rows.mutable_data_ptr<float>());
  cuda::kernel(y.device(), "pictures.cu", "add_rows", image_defines(y))
      .launch(y.device(), LaunchShape{y.size(1), 128, 0}, rows.const_data_ptr<float>(),
              static_cast<int>(blocks), of_bias.mutable_data_ptr<float>());
  return {result, of_bias};
}

at::Tensor cuda_subtract_means(const at::Tensor& image, at::ArrayRef<double> means,
                               at::ScalarType dtype) {
  const bool bytes = image.scalar_type() == at::kByte;
  const auto planes = (bytes ? image : image.to(at::kFloat)).contiguous();
  auto result = empty_image(image, image.size(2), image.size(3), dtype);
  const auto pixels = image.numel() / 3;
  cuda::kernel(image.device(), "pictures.cu", "subtract_means", image_defines(result, 1, !bytes))
      .launch(image.device(), cuda::sweep(image.device(), pixels), planes.const_data_ptr(),
              result.mutable_data_ptr(), static_cast<long long>(pixels),
              static_cast<int>(image.size(2) * image.size(3)), static_cast<float>(means[0]),
              static_cast<float>(means[1]), static_cast<float>(means[2]));
  return result;
}

bool does_convolve_to_one(const at::Tensor& x) {
  const auto groups = x.size(1) / cuda::lanes_of(x);
  return does_image_ops(x, x.size(1)) && groups <= 32 && (groups & (groups - 1)) == 0;
}

at::Tensor cuda_convolve_to_one(const at::Tensor& x, const at::Tensor& weight,
                                const at::Tensor& bias) {
  auto result = at::empty({x.size(0), 1, x.size(2), x.size(3)},
                          x.options().dtype(at::kFloat).memory_format(std::nullopt));
  const auto extent = extent_of(x);
  auto defines = image_defines(x);
  defines.back() = fmt::format("GROUPS={}", extent.groups);
  const auto threads = result.numel() * extent.groups;
  cuda::kernel(x.device(), "pictures.cu", "convolve_to_one", defines)
      .launch(x.device(), cuda::sweep(x.device(), threads, cuda::kSweepThreads, 8),
              x.const_data_ptr(), weight.const_data_ptr<float>(), bias.const_data_ptr<float>(),
              result.mutable_data_ptr<float>(), extent);
  return result;
}

at::Tensor cuda_stretch(const at::Tensor& map, double epsilon) {
  const auto dense = map.to(at::kFloat).contiguous();
  auto result = at::empty_like(dense);
  auto partial = at::empty({map.size(0), kRangeParts, 2}, dense.options());
  const LaunchShape shape{map.size(0) * kRangeParts, cuda::kSweepThreads, 0};
  const auto values = static_cast<int>(map.numel() / map.size(0));
  cuda::kernel(map.device(), "pictures.cu", "ranges", image_defines(dense))
      .launch(map.device(), shape, dense.const_data_ptr<float>(), partial.mutable_data_ptr<float>(),
              values);
  cuda::kernel(map.device(), "pictures.cu", "stretch", image_defines(dense))
      .launch(map.device(), shape, dense.const_data_ptr<float>(), partial.const_data_ptr<float>(),
              result.mutable_data_ptr<float>(), values, static_cast<float>(epsilon));
  return result;
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("has_picture_kernels", TORCH_FN(has_image_kernels));
  library.impl("does_pictures", TORCH_FN(does_image_ops));
  library.impl("upsample_twice", TORCH_FN(cuda_upsample_twice));
  library.impl("upsample_twice_backward", TORCH_FN(cuda_upsample_twice_backward));
  library.impl("max_pool", TORCH_FN(cuda_max_pool));
  library.impl("max_pool_backward", TORCH_FN(cuda_max_pool_backward));
  library.impl("relu_bias_backward", TORCH_FN(cuda_relu_bias_backward));
  library.impl("subtract_means", TORCH_FN(cuda_subtract_means));
  library.impl("does_convolve_to_one", TORCH_FN(does_convolve_to_one));
  library.impl("convolve_to_one", TORCH_FN(cuda_convolve_to_one));
  library.impl("stretch", TORCH_FN(cuda_stretch));
}

}  // namespace ubique::backend
