// SPDX-License-Identifier: Apache-2.0
// ubique::weight_gradient on NVIDIA cards from Ampere on (sources/weight_gradient.cu).
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>

#include "../runtime/kernel.h"
#include "../runtime/tiles.h"

namespace ubique::backend {
namespace {

/// As weight_gradient.cu declares it.
struct ExtentArgument {
  int samples, depth, height, width, dilation;
};

constexpr int kGradientThreads = 288;

int shared_bytes(int tile, std::int64_t channels, std::int64_t dilation) {
  const auto parts = static_cast<int>(channels / 8);
  return 16 * parts * (4 * 3 * (tile + 2 * static_cast<int>(dilation)) + 2 * tile);
}

/// The widest tile that fits the card and does not lie mostly past the row's end; 0 = none.
int tile_of(const at::Tensor& x, std::int64_t dilation) {
  const auto most = cuda::card_limits(x.device()).shared_bytes;
  for (const int tile : {128, 64, 32, 16}) {
    const bool is_wasteful = tile > 16 && tile / 2 >= x.size(4);
    if (!is_wasteful && shared_bytes(tile, x.size(1), dilation) <= most) return tile;
  }
  return 0;
}

bool does_weight_gradient(const at::Tensor& gradient, const at::Tensor& x, std::int64_t kernel,
                          std::int64_t dilation) {
  return kernel == 3 && cuda::suits_tiles(x) && cuda::suits_tiles(gradient) &&
         gradient.sizes() == x.sizes() && gradient.scalar_type() == x.scalar_type() &&
         tile_of(x, dilation) > 0;
}

/// As many blocks as can run at once: each adds a row of partial results to be summed later.
std::int64_t block_count(const at::Tensor& x, std::int64_t dilation, int tile) {
  const auto& card = cuda::card_limits(x.device());
  const auto at_once = std::clamp(card.shared_bytes / shared_bytes(tile, x.size(1), dilation), 1,
                                  x.size(1) > 16 ? 1 : 4);
  const auto columns =
      x.size(0) * x.size(2) * std::min(dilation, x.size(3)) * ((x.size(4) + tile - 1) / tile);
  return std::min<std::int64_t>(columns, std::int64_t{at_once} * card.processors);
}

at::Tensor cuda_weight_gradient(const at::Tensor& gradient, const at::Tensor& x,
                                std::int64_t dilation) {
  const auto channels = x.size(1);
  const auto tile = tile_of(x, dilation);
  const auto blocks = block_count(x, dilation, tile);
  const auto floats = at::TensorOptions(x.device()).dtype(at::kFloat);
  auto rows = at::empty({blocks, 27, channels, channels}, floats);
  auto result = at::empty({channels, channels, 3, 3, 3}, floats);
  const std::vector<std::string> defines = {
      cuda::scalar_define(x), fmt::format("CHANNELS={}", channels), fmt::format("TILE={}", tile)};
  const ExtentArgument extent{static_cast<int>(x.size(0)), static_cast<int>(x.size(2)),
                              static_cast<int>(x.size(3)), static_cast<int>(x.size(4)),
                              static_cast<int>(dilation)};
  const auto find = [&](const char* function) -> const cuda::Kernel& {
    return cuda::kernel(x.device(), "weight_gradient.cu", function, defines);
  };
  find("weight_gradient")
      .launch(x.device(), {blocks, kGradientThreads, shared_bytes(tile, channels, dilation)},
              gradient.const_data_ptr(), x.const_data_ptr(), extent,
              rows.mutable_data_ptr<float>());
  find("weight_gradient_total")
      .launch(x.device(), {(result.numel() + 255) / 256, 256, 0}, rows.const_data_ptr<float>(),
              static_cast<int>(blocks), result.mutable_data_ptr<float>());
  return result;
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_weight_gradient", TORCH_FN(does_weight_gradient));
  library.impl("weight_gradient", TORCH_FN(cuda_weight_gradient));
}

}  // namespace ubique::backend
