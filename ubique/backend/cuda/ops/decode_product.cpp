// SPDX-License-Identifier: Apache-2.0
// ubique::decode_product on NVIDIA cards (sources/decode/decode_product.cu): how a product is cut.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <array>

#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

constexpr int kDecodeThreads = 256, kDecodeWarps = 8;
constexpr std::int64_t kTileFeatures = 8, kStepColumns = 32;
constexpr std::int64_t kStagedBytes = 100 << 10;  // rows at once: two blocks have room
constexpr std::int64_t kPieceBytes = 72 << 10;    // of rows that are cut; two are staged
constexpr int kDecodeBlocks = 2;

/// As the kernel's Layers.
struct DecodeLayers {
  std::array<const void*, 3> weight{};
  std::array<const float*, 3> bias{};
  std::array<int, 3> ends{};
};

const float* optional_f32(const at::Tensor& tensor) {
  return tensor.numel() > 0 ? tensor.const_data_ptr<float>() : nullptr;
}

void* optional_data(const at::Tensor& tensor) {
  return tensor.numel() > 0 ? tensor.mutable_data_ptr() : nullptr;
}

DecodeLayers layers_of(at::TensorList weights, at::TensorList biases, bool gated) {
  DecodeLayers layers;
  int end = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (i < weights.size()) {
      const auto& weight = weights[i];
      TORCH_CHECK(
          weight.is_contiguous() && cuda::is_aligned(weight) && weight.size(0) % kTileFeatures == 0,
          "decode_product: weights must be whole groups of 8 rows, aligned to 16 bytes");
      layers.weight.at(i) = weight.const_data_ptr();
      end = gated ? static_cast<int>(weight.size(0)) : end + static_cast<int>(weight.size(0));
      if (i < biases.size()) layers.bias.at(i) = optional_f32(biases[i]);
    }
    layers.ends.at(i) = end;
  }
  return layers;
}

/// Tiles of 8 features for a block: as many as leave the busiest processor no more than it would
/// have with fewer (and a tenth).
std::int64_t tiles_per_block(std::int64_t tiles, std::int64_t processors, bool gated) {
  const auto work = [&](std::int64_t each) {
    const auto blocks = (tiles + each - 1) / each;
    return (blocks + processors - 1) / processors * each;
  };
  const std::array<std::int64_t, 4> sizes = {4, 3, 2, 1};
  auto least = work(2);
  for (const auto each : sizes) {
    if (!gated || each % 2 == 0) least = std::min(least, work(each));
  }
  for (const auto each : sizes) {
    if ((!gated || each % 2 == 0) && 10 * work(each) <= 11 * least) return each;
  }
  return 2;
}

/// The fewest equal pieces of the columns whose rows fit into shared memory.
std::int64_t pieces_of(std::int64_t rows, std::int64_t columns) {
  const auto steps = columns / kStepColumns;
  for (std::int64_t pieces = 1; pieces <= steps; ++pieces) {
    const auto most = pieces == 1 ? kStagedBytes : kPieceBytes;
    if (steps % pieces == 0 && rows * columns / pieces * 2 <= most) return pieces;
  }
  TORCH_CHECK(false, "decode_product: rows of ", columns, " values cannot be cut");
}

struct Cut {
  std::int64_t rows, columns, row_tile, pieces, tiles;

  std::int64_t shared_bytes(bool normed) const {
    const auto steps = columns / kStepColumns / pieces;
    const auto pitch = 4 * steps + (steps % 2 == 0 ? 4 : 0);
    const auto sums = kDecodeWarps * tiles * row_tile * kTileFeatures * 4;
    const auto own = (steps + kDecodeWarps - 1) / kDecodeWarps * (row_tile / 8) * kDecodeThreads;
    const auto staged = normed ? own : (pieces > 1 ? 2 : 1) * rows * pitch;  // of 16 bytes
    const auto of_norm = normed ? 2 * (columns + kDecodeWarps * row_tile) * 4 : 0;
    return staged * 16 + std::max<std::int64_t>(sums, kDecodeThreads * 8) + of_norm;
  }
};

void cuda_decode_product(const at::Tensor& x, const at::Tensor& norm_weight,
                         const at::Tensor& norm_bias, std::int64_t norm, double epsilon,
                         at::TensorList weights, at::TensorList biases, bool gated,
                         std::int64_t activation, const at::Tensor& residual, const at::Tensor& out,
                         const at::Tensor& best) {
  const auto device = x.device();
  const auto layers = layers_of(weights, biases, gated);
  const int features = layers.ends[2];
  const auto processors = cuda::card_limits(device).processors;
  const bool chooses = best.numel() > 0;
  Cut cut{x.size(0), x.size(1), x.size(0) > 8 ? 16 : 8, 0, 0};
  cut.pieces = norm != 0 ? 1 : pieces_of(cut.rows, cut.columns);
  const auto all_tiles = (gated ? 2 : 1) * features / kTileFeatures;
  cut.tiles = tiles_per_block(all_tiles, processors, gated);
  const auto tiles = (all_tiles + cut.tiles - 1) / cut.tiles;
  const auto most = std::int64_t{kDecodeBlocks} * processors;
  const auto blocks = chooses ? best.size(0) : cut.pieces > 1 ? tiles : std::min(tiles, most);
  const auto& kernel =
      cuda::kernel(device, "decode_product.cu", "decode_product",
                   {cuda::scalar_define(x), fmt::format("ROWS={}", cut.row_tile),
                    fmt::format("WIDTH={}", cut.columns), fmt::format("PIECES={}", cut.pieces),
                    fmt::format("TILES={}", cut.tiles), fmt::format("GATED={}", gated ? 1 : 0),
                    fmt::format("NORMED={}", norm != 0 ? 1 : 0)});
  kernel.launch(device,
                {blocks, kDecodeThreads, static_cast<int>(cut.shared_bytes(norm != 0)),
                 cuda::card_limits(device).capability >= 90},
                x.const_data_ptr(), optional_f32(norm_weight), optional_f32(norm_bias),
                static_cast<int>(norm), static_cast<float>(epsilon), layers,
                static_cast<const void*>(optional_data(residual)),
                chooses ? static_cast<void*>(nullptr) : out.mutable_data_ptr(),
                chooses ? out.mutable_data_ptr() : static_cast<void*>(nullptr), optional_data(best),
                static_cast<int>(cut.rows), features, static_cast<int>(activation));
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("decode_product", TORCH_FN(cuda_decode_product));
}

}  // namespace ubique::backend
