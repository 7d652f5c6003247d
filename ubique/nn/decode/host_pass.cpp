// SPDX-License-Identifier: Apache-2.0
// Embedding, norms, products and the MLP of a pass.
#include "ubique/nn/decode/host_pass.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "ubique/kernels/quant/host_product.h"
#include "ubique/kernels/quant/host_weight.h"

namespace ubique::nn {
namespace {

constexpr std::int64_t kGroupValues = 32;       // with one scale in 8 bits
constexpr std::int64_t kPieceBytes = 48 << 10;  // of a weight, that a thread takes at a time
constexpr std::int64_t kActivatedPiece = 1024;  // values of the MLP that a thread takes

const float* f32_values(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
}

/// Adds a row of a table in f32 or bf16, or replaces `out` by it.
void add_table_row(const at::Tensor& table, std::int64_t index, bool replace, float* out) {
  const auto width = table.size(1);
  const auto add = [&](const auto* values) {
    values += index * width;
    for (std::int64_t i = 0; i < width; ++i) {
      out[i] = static_cast<float>(values[i]) + (replace ? 0 : out[i]);
    }
  };
  if (table.scalar_type() == at::kFloat) return add(table.const_data_ptr<float>());
  add(table.const_data_ptr<at::BFloat16>());
}

kernels::HostActivation host_activation(Activation activation) {
  return activation == Activation::Silu   ? kernels::HostActivation::Silu
         : activation == Activation::Gelu ? kernels::HostActivation::Gelu
                                          : kernels::HostActivation::GeluTanh;
}

/// Columns of all rows, to which a thread adds the bias.
void add_layer_bias(const HostLinear& layer, std::int64_t begin, std::int64_t end,
                    std::int64_t rows, float* out) {
  if (!layer.bias.defined()) return;
  const float* bias = layer.bias.const_data_ptr<float>();
  for (std::int64_t row = 0; row < rows; ++row, out += layer.out) {
    for (auto i = begin; i < end; ++i) out[i] += bias[i];
  }
}

}  // namespace

HostStep::Buffers::Buffers(const HostNetwork& network) {
  std::int64_t inner_width = 0, widest = network.hidden;
  for (const auto& block : network.blocks) {
    for (const auto& layer : block.inner) inner_width = std::max(inner_width, layer.out);
  }
  const auto queries = network.heads * network.head_size;
  widest = std::max({widest, inner_width, queries});
  const auto rows = [](std::int64_t width) {
    return static_cast<std::size_t>(width) * HostStep::kMostTokens;
  };
  for (auto* each : {&x, &normed, &attended, &fed}) each->resize(rows(network.hidden));
  qkv.resize(rows(queries + 2 * network.kv_heads * network.head_size));
  mixed.resize(rows(queries));
  inner.resize(rows(inner_width));
  if (network.gated) factors.resize(rows(inner_width));
  values.resize(rows(widest));
  scales.resize(rows(widest / kGroupValues + 1));
  offsets.resize(rows(widest / kGroupValues + 1));
}

HostStep::Pass::Pass(const HostNetwork& network, Buffers& buffers,
                     std::span<const HostToken> tokens, std::span<const KvCache> caches,
                     kernels::HostTeam& team)
    : network_(network),
      buffers_(buffers),
      tokens_(tokens),
      caches_(caches),
      team_(team),
      rows_(static_cast<std::int64_t>(tokens.size())) {
  set_heads();
}

void HostStep::Pass::embed() {
  team_.each(rows_, [this](std::int64_t row) {
    const auto& token = tokens_[static_cast<std::size_t>(row)];
    float* x = buffers_.x.data() + row * network_.hidden;
    add_table_row(network_.tokens, token.id, true, x);
    if (network_.positions.defined()) {
      add_table_row(network_.positions, token.position, false, x);
    }
  });
}

/// Rows of the residual stream from `first` on, with what is pending, to the first rows of
/// `normed`, which `next` reads.
void HostStep::Pass::normalize(const HostNormWeights& norm, const HostLinear& next,
                               std::int64_t first) {
  const auto width = network_.hidden;
  const auto of_row = [&](const float* branch, std::int64_t row) {
    return branch == nullptr ? nullptr : branch + row * width;
  };
  team_.each(rows_ - first, [&](std::int64_t i) {
    const auto row = first + i;
    float* out = buffers_.normed.data() + i * width;
    kernels::host_loops().normalize(
        {.x = buffers_.x.data() + row * width,
         .branches = {of_row(pending_[0], row), of_row(pending_[1], row)},
         .weight = f32_values(norm.weight),
         .bias = f32_values(norm.bias),
         .size = width,
         .center = network_.center,
         .epsilon = static_cast<float>(network_.epsilon),
         .out = out});
    quantize(next, out, i, 0, width);
  });
  pending_ = {};
}

/// Columns of a row of x in 8 bits, if `next` multiplies such rows.
void HostStep::Pass::quantize(const HostLinear& next, const float* x, std::int64_t row,
                              std::int64_t begin, std::int64_t end) {
  if (!next.quantized) return;
  const std::int32_t zero = next.quantized->format == kernels::QuantFormat::Int8 ? 128 : 8;
  const auto at = row * next.in + begin;
  kernels::quant_kernels().quantize_row(
      x + begin, (end - begin) / kGroupValues, zero, buffers_.values.data() + at,
      buffers_.scales.data() + at / kGroupValues, buffers_.offsets.data() + at / kGroupValues);
}

/// As many for each thread, if they are small enough; a thread that is slowed down takes fewer.
std::int64_t HostStep::Pass::pieces_of(const HostLinear& layer) const {
  std::int64_t units = layer.out, bytes = 0;
  if (layer.quantized) {
    const auto& tiles = kernels::host_weight(*layer.quantized);
    units = tiles.tiles;
    bytes = tiles.tiles * tiles.tile_bytes;
  } else {
    bytes = static_cast<std::int64_t>(layer.weight.nbytes());
  }
  const auto threads = team_.threads();
  const auto rounds = (bytes / kPieceBytes + threads) / threads;
  return std::min({units, rounds * threads, kernels::HostTeam::kMostPieces / 4});
}

void HostStep::Pass::multiply_piece(const Product& product, const float* x, std::int64_t piece,
                                    std::int64_t pieces) const {
  const auto& layer = product.layer;
  std::int64_t begin = 0, end = 0;
  if (layer.quantized) {
    const auto& tiles = kernels::host_weight(*layer.quantized);
    const kernels::Int8Rows rows{rows_, tiles.groups, buffers_.values.data(),
                                 buffers_.scales.data(), buffers_.offsets.data()};
    const auto first = tiles.tiles * piece / pieces, last = tiles.tiles * (piece + 1) / pieces;
    kernels::quant_kernels().multiply_tiles({&tiles, &rows, product.out, first, last});
    begin = first * kernels::kTileRows;
    end = std::min(last * kernels::kTileRows, layer.out);
  } else {
    begin = layer.out * piece / pieces;
    end = layer.out * (piece + 1) / pieces;
    kernels::host_loops().multiply(
        {.weight = {layer.weight.const_data_ptr(), layer.weight.scalar_type() == at::kBFloat16},
         .x = x,
         .out = product.out,
         .rows = rows_,
         .columns = layer.in,
         .weight_rows = layer.out,
         .begin = begin,
         .end = end});
  }
  add_layer_bias(layer, begin, end, rows_, product.out);
}

/// Products of the same rows: x, and the same in 8 bits if the weights are quantised.
void HostStep::Pass::multiply(std::span<const Product> products, const float* x) {
  std::array<std::int64_t, 3> pieces = {};
  std::int64_t total = 0;
  for (std::size_t i = 0; i < products.size(); ++i) {
    pieces.at(i) = pieces_of(products[i].layer);
    total += pieces[i];
  }
  team_.each(total, [&](std::int64_t piece) {
    std::size_t i = 0;
    while (piece >= pieces[i]) piece -= pieces[i++];
    multiply_piece(products[i], x, piece, pieces[i]);
  });
}

void HostStep::Pass::feed_forward(const HostBlock& block) {
  const auto& first = block.inner.front();
  const auto width = first.out;
  float *inner = buffers_.inner.data(), *factors = nullptr;
  if (block.inner.size() == 2) {
    factors = buffers_.factors.data();
    const Product both[] = {{first, inner}, {block.inner.back(), factors}};
    multiply(both, buffers_.normed.data());
  } else {
    const Product one{first, inner};
    multiply({&one, 1}, buffers_.normed.data());
  }
  const auto pieces = (width + kActivatedPiece - 1) / kActivatedPiece;
  team_.each(rows_ * pieces, [&](std::int64_t i) {
    const auto row = i / pieces, begin = i % pieces * kActivatedPiece;
    const auto end = std::min(width, begin + kActivatedPiece);
    float* x = inner + row * width;
    kernels::host_loops().activate(host_activation(network_.activation), x + begin,
                                   factors == nullptr ? nullptr : factors + row * width + begin,
                                   end - begin);
    quantize(block.down, x, row, begin, end);
  });
  const Product down{block.down, buffers_.fed.data()};
  multiply({&down, 1}, inner);
}

void HostStep::Pass::block(std::size_t layer) {
  const auto& block = network_.blocks[layer];
  normalize(block.first_norm, block.qkv.front());
  attention(layer);
  if (network_.parallel) {
    // Attention's input in 8 bits has taken the place of the norm's.
    team_.each(rows_, [&](std::int64_t row) {
      quantize(block.inner.front(), buffers_.normed.data() + row * network_.hidden, row, 0,
               network_.hidden);
    });
    feed_forward(block);
    pending_ = {buffers_.attended.data(), buffers_.fed.data()};
    return;
  }
  pending_ = {buffers_.attended.data(), nullptr};
  normalize(block.second_norm, block.inner.front());
  feed_forward(block);
  pending_ = {buffers_.fed.data(), nullptr};
}

void HostStep::Pass::head(std::size_t first, float* logits) {
  normalize(network_.final_norm, network_.head, static_cast<std::int64_t>(first));
  rows_ -= static_cast<std::int64_t>(first);
  const Product head{network_.head, logits};
  multiply({&head, 1}, buffers_.normed.data());
}

std::int64_t HostStep::Pass::likeliest(const float* logits) {
  constexpr std::int64_t kMostParts = 16;
  std::array<std::int64_t, kMostParts> largest{};
  const auto parts = std::min(team_.threads(), kMostParts), count = network_.head.out;
  team_.each(parts, [&](std::int64_t part) {
    const auto begin = count * part / parts, end = count * (part + 1) / parts;
    largest.at(part) = begin + kernels::host_loops().find_largest(logits + begin, end - begin);
  });
  auto best = largest.front();
  for (std::int64_t part = 1; part < parts; ++part) {
    const auto value = logits[largest.at(part)];
    if (std::isnan(value) || value > logits[best]) best = largest.at(part);
  }
  return best;
}

}  // namespace ubique::nn
