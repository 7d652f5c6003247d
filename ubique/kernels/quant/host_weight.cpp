// SPDX-License-Identifier: Apache-2.0
// Makes the tiles from the plain form.
#include "ubique/kernels/quant/host_weight.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "ubique/base/numbers/large_vector.h"
#include "ubique/kernels/host/host_threads.h"

namespace ubique::kernels {
namespace {

constexpr std::int64_t kTileGroup = 32;  // inputs with one scale
constexpr std::int64_t kQuad = 4;        // inputs of a row that lie side by side

/// The bytes of one row's group, spread over the tile's group.
void place_group(QuantFormat format, const std::uint8_t* from, std::int64_t row, std::uint8_t* to) {
  const bool int8 = format == QuantFormat::Int8;
  const std::int64_t quads = (int8 ? kTileGroup : kTileGroup / 2) / kQuad;
  for (std::int64_t quad = 0; quad < quads; ++quad) {
    for (std::int64_t i = 0; i < kQuad; ++i) {
      const unsigned value = from[quad * kQuad + i];
      to[(quad * kTileRows + row) * kQuad + i] =
          static_cast<std::uint8_t>(int8 ? value ^ 0x80U : value);
    }
  }
}

/// 16 bits of a tile's rows; rows that the weight does not have keep the zeros of the format.
void fill_tile(const HostWeight& host, const QuantizedWeight& weight, std::int64_t tile,
               std::uint8_t* out) {
  const bool int8 = host.format == QuantFormat::Int8;
  const std::int64_t row_bytes = int8 ? kTileGroup : kTileGroup / 2;  // of one group
  const auto* values = static_cast<const std::uint8_t*>(weight.packed.const_data_ptr());
  const auto* scales = static_cast<const std::uint16_t*>(weight.scales.const_data_ptr());
  std::memset(out, 0, static_cast<std::size_t>(host.scale_bytes));
  std::memset(out + host.scale_bytes, int8 ? 0x80 : 0x88,
              static_cast<std::size_t>(host.tile_bytes - host.scale_bytes));
  auto* tile_scales = reinterpret_cast<std::uint16_t*>(out);
  for (std::int64_t i = 0; i < std::min(kTileRows, host.rows - tile * kTileRows); ++i) {
    const auto row = tile * kTileRows + i;
    for (std::int64_t group = 0; group < host.groups; ++group) {
      const auto at = row * host.groups + group;
      tile_scales[group * kTileRows + i] = scales[at];
      place_group(host.format, values + at * row_bytes, i,
                  out + host.scale_bytes + group * kTileRows * row_bytes);
    }
  }
}

}  // namespace

HostWeight make_host_weight(const QuantizedWeight& weight) {
  HostWeight host{.format = weight.format, .rows = weight.rows};
  host.groups = weight.columns / kTileGroup;
  host.tiles = (weight.rows + kTileRows - 1) / kTileRows;
  host.scale_bytes = (host.groups * kTileRows * 2 + 63) / 64 * 64;
  const std::int64_t bits = weight.format == QuantFormat::Int8 ? 8 : 4;
  host.tile_bytes = host.scale_bytes + kTileRows * weight.columns * bits / 8;
  host.bytes = at::empty({host.tiles * host.tile_bytes}, at::TensorOptions(at::kByte));
  auto* out = host.bytes.mutable_data_ptr<std::uint8_t>();
  prefer_large_pages(out, host.bytes.nbytes());
  const auto threads = host_threads();
  on_host_threads([&](std::int64_t thread) {
    const auto end = host.tiles * (thread + 1) / threads;
    for (auto tile = host.tiles * thread / threads; tile < end; ++tile) {
      fill_tile(host, weight, tile, out + tile * host.tile_bytes);
    }
  });
  return host;
}

const HostWeight& host_weight(const QuantizedWeight& weight) {
  std::call_once(weight.host->once, [&] { weight.host->weight = make_host_weight(weight); });
  return weight.host->weight;
}

}  // namespace ubique::kernels
