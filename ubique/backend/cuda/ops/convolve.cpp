// SPDX-License-Identifier: Apache-2.0
// Convolutions on NVIDIA cards. ubique::convolve, for few channels, is our kernel
// (sources/convolve.cu); ubique::convolve_relu is cuDNN's, with bias and ReLU in the same pass: on
// an H200 at 256³ in f16 a layer of 32 channels takes 3.7 ms that way and 5.7 ms in two passes. Our
// kernel takes 3.1 ms, and with 8 channels 0.46 ms where cuDNN takes 1.4.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>

#include "../runtime/kernel.h"
#include "../runtime/tiles.h"

namespace ubique::backend {
namespace {

/// As convolve.cu declares it.
struct ConvolveExtent {
  int samples, depth, height, width, dilation, segment;
};

constexpr int kPlanes = 4, kWarpVoxels = 64;
constexpr int kMinRows = 16;  // per block, which reads two more rows of input

struct ConvolveForm {
  int tile = 0;  // 0 = the card is too small
  int shared_bytes = 0;
};

int steps_of(std::int64_t channels) { return static_cast<int>((27 * channels / 8 + 1) / 2); }

std::int64_t packed_bytes(std::int64_t channels) {
  return std::int64_t{steps_of(channels)} * (channels / 8) * 32 * 8;
}

/// The widest tile that keeps the card busy; narrow rows and small cards use the smaller one.
ConvolveForm form_of(const at::Tensor& x, std::int64_t dilation) {
  const auto most = cuda::card_limits(x.device()).shared_bytes;
  const auto channels = x.size(1);
  for (const int tile : {2 * kWarpVoxels, kWarpVoxels}) {
    const bool is_wasteful = tile > kWarpVoxels && (channels > 8 || x.size(4) <= kWarpVoxels);
    const auto bytes =
        4 * (kPlanes + 2) * (tile + 2 * dilation) * channels * 2 + packed_bytes(channels);
    if (!is_wasteful && bytes <= most) return {tile, static_cast<int>(bytes)};
  }
  return {};
}

bool does_convolve(const at::Tensor& x, const at::Tensor& weight, std::int64_t dilation) {
  return cuda::suits_tiles(x) && weight.size(2) == 3 && weight.size(3) == 3 &&
         weight.size(4) == 3 && weight.size(0) == x.size(1) && weight.size(1) == x.size(1) &&
         weight.scalar_type() == x.scalar_type() && form_of(x, dilation).tile > 0;
}

at::Tensor pack_convolve_weights(const at::Tensor& weight,
                                 const std::vector<std::string>& defines) {
  // The kernel needs one stride for all 27 taps; every dense layout has one.
  const auto dense =
      weight.stride(4) * 9 == weight.stride(2) && weight.stride(4) * 3 == weight.stride(3)
          ? weight
          : weight.contiguous();
  const auto values = packed_bytes(weight.size(0)) / 2;
  auto result = at::empty({values}, weight.options());
  cuda::kernel(weight.device(), "convolve.cu", "convolve_weights", defines)
      .launch(weight.device(), {(values + 255) / 256, 256, 0}, dense.const_data_ptr(),
              static_cast<long long>(dense.stride(0)), static_cast<long long>(dense.stride(1)),
              static_cast<long long>(dense.stride(4)), result.mutable_data_ptr());
  return result;
}

at::Tensor cuda_convolve(const at::Tensor& x, const at::Tensor& weight,
                         const std::optional<at::Tensor>& bias, std::int64_t dilation, bool relu) {
  const auto form = form_of(x, dilation);
  const auto defines =
      std::vector<std::string>{cuda::scalar_define(x), fmt::format("CHANNELS={}", x.size(1)),
                               fmt::format("TILE={}", form.tile), fmt::format("PLANES={}", kPlanes),
                               fmt::format("RELU={}", relu ? 1 : 0)};
  const auto rows = (x.size(3) + dilation - 1) / dilation;
  const auto columns = x.size(0) * ((x.size(2) + kPlanes - 1) / kPlanes) *
                       std::min(dilation, x.size(3)) * ((x.size(4) + form.tile - 1) / form.tile);
  const auto& card = cuda::card_limits(x.device());
  const auto at_once =
      std::int64_t{card.processors} * std::clamp(card.shared_bytes / form.shared_bytes, 1, 3);
  // Several parts per block, so that the last blocks do not leave the card idle for long.
  const auto parts = std::clamp<std::int64_t>(6 * at_once / columns, 1,
                                              std::max<std::int64_t>(rows / kMinRows, 1));
  const ConvolveExtent extent{
      static_cast<int>(x.size(0)), static_cast<int>(x.size(2)),
      static_cast<int>(x.size(3)), static_cast<int>(x.size(4)),
      static_cast<int>(dilation),  static_cast<int>((rows + parts - 1) / parts)};
  const auto weights = pack_convolve_weights(weight, defines);
  const auto added = bias ? bias->to(at::kFloat).contiguous() : at::Tensor();
  auto result = at::empty_like(x);
  cuda::kernel(x.device(), "convolve.cu", "convolve", defines)
      .launch(x.device(),
              {std::min(columns * parts, at_once), 32 * kPlanes * form.tile / kWarpVoxels,
               form.shared_bytes},
              x.const_data_ptr(), weights.const_data_ptr(),
              bias ? added.const_data_ptr<float>() : nullptr, result.mutable_data_ptr(), extent);
  return result;
}

at::Tensor cudnn_convolve_relu(const at::Tensor& x, const at::Tensor& weight,
                               const std::optional<at::Tensor>& bias, at::IntArrayRef padding,
                               std::int64_t dilation) {
  const std::vector<std::int64_t> ones(padding.size(), 1), dilations(padding.size(), dilation);
  return at::cudnn_convolution_relu(x, weight, bias, ones, padding, dilations, 1);
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_convolve", TORCH_FN(does_convolve));
  library.impl("convolve", TORCH_FN(cuda_convolve));
  library.impl("convolve_relu", TORCH_FN(cudnn_convolve_relu));
}

}  // namespace ubique::backend
