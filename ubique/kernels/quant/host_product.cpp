// SPDX-License-Identifier: Apache-2.0
// The plain kernels, which any processor runs, and the choice of the best ones.
#include "ubique/kernels/quant/host_product.h"

#include <algorithm>
#include <cmath>

#include "ubique/io/tensors/tensor_stats.h"
#include "ubique/kernels/quant/host_product_x86.h"

namespace ubique::kernels {
namespace {

constexpr std::int64_t kPlainGroup = 32;

void quantize_row_plain(const float* from, std::int64_t groups, std::int32_t zero,
                        std::int8_t* values, float* scales, std::int32_t* offsets) {
  for (std::int64_t group = 0; group < groups; ++group) {
    const float* x = from + group * kPlainGroup;
    float most = 0;
    for (std::int64_t i = 0; i < kPlainGroup; ++i) most = std::max(most, std::fabs(x[i]));
    const float factor = most > 0 ? 127 / most : 0;
    std::int32_t sum = 0;
    for (std::int64_t i = 0; i < kPlainGroup; ++i) {
      const float rounded = std::nearbyint(x[i] * factor);
      const auto value = rounded >= -127 && rounded <= 127 ? static_cast<std::int8_t>(rounded) : 0;
      values[group * kPlainGroup + i] = static_cast<std::int8_t>(value);
      sum += value;
    }
    scales[group] = most / 127;
    offsets[group] = -zero * sum;
  }
}

/// Adds the products of 4 inputs to the sums of a tile's rows.
template <bool kHigh, bool kNibbles>
void add_quad(const std::uint8_t* weights, const std::int8_t* x, std::int32_t* sums) {
  for (std::int64_t row = 0; row < kTileRows; ++row) {
    for (std::int64_t i = 0; i < 4; ++i) {
      const int byte = weights[row * 4 + i];
      const int value = !kNibbles ? byte : kHigh ? byte >> 4 : byte & 15;
      sums[row] += value * x[i];
    }
  }
}

template <bool kNibbles>
void multiply_tile_plain(const TileRange& range, std::int64_t tile, std::int64_t x_row) {
  const auto& weight = *range.weight;
  const auto* scales = reinterpret_cast<const std::uint16_t*>(weight.tile(tile));
  const auto* weights = weight.tile(tile) + weight.scale_bytes;
  float results[kTileRows] = {};
  for (std::int64_t group = 0; group < weight.groups; ++group) {
    const auto at = x_row * weight.groups + group;
    const auto* x = range.x->values + at * kPlainGroup;
    std::int32_t sums[kTileRows];
    std::fill_n(sums, kTileRows, range.x->offsets[at]);
    for (std::int64_t quad = 0; quad < (kNibbles ? 4 : 8); ++quad, weights += 64) {
      add_quad<false, kNibbles>(weights, x + quad * 4, sums);
      if (kNibbles) add_quad<true, kNibbles>(weights, x + 16 + quad * 4, sums);
    }
    for (std::int64_t row = 0; row < kTileRows; ++row) {
      const float scale = io::decode_f16(scales[group * kTileRows + row]) * range.x->scales[at];
      results[row] += static_cast<float>(sums[row]) * scale;
    }
  }
  const auto count = std::min(kTileRows, weight.rows - tile * kTileRows);
  std::copy_n(results, count, range.out + x_row * weight.rows + tile * kTileRows);
}

void multiply_tiles_plain(const TileRange& range) {
  for (auto tile = range.begin; tile < range.end; ++tile) {
    for (std::int64_t row = 0; row < range.x->rows; ++row) {
      if (range.weight->format == QuantFormat::Int8) {
        multiply_tile_plain<false>(range, tile, row);
      } else {
        multiply_tile_plain<true>(range, tile, row);
      }
    }
  }
}

void multiply_nf4_plain(const Nf4Range& range) {
  const auto blocks = range.columns / 64;
  for (auto row = range.begin; row < range.end; ++row) {
    for (std::int64_t x_row = 0; x_row < range.rows; ++x_row) {
      const float* even = range.even + x_row * range.columns / 2;
      const float* odd = range.odd + x_row * range.columns / 2;
      float result = 0;
      for (std::int64_t block = 0; block < blocks; ++block) {
        const auto* packed = range.packed + (row * blocks + block) * 32;
        float sum = 0;
        for (std::int64_t i = 0; i < 32; ++i) {
          sum += range.code[packed[i] >> 4] * even[block * 32 + i];
          sum += range.code[packed[i] & 15] * odd[block * 32 + i];
        }
        result += sum * range.scales[row * blocks + block];
      }
      range.out[x_row * range.weight_rows + row] = result;
    }
  }
}

}  // namespace

const std::vector<QuantKernels>& all_quant_kernels() {
  static const std::vector<QuantKernels> kernels = [] {
    auto found = x86_quant_kernels();
    found.push_back({"plain", quantize_row_plain, multiply_tiles_plain, multiply_nf4_plain});
    return found;
  }();
  return kernels;
}

const QuantKernels& quant_kernels() { return all_quant_kernels().front(); }

}  // namespace ubique::kernels
