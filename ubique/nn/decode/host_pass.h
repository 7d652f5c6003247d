// SPDX-License-Identifier: Apache-2.0
// One pass of a HostStep: its rows, their buffers, and the parts of a block. For host_step.cpp.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "ubique/kernels/decoder/host_loops.h"
#include "ubique/kernels/host/host_team.h"
#include "ubique/nn/decode/host_step.h"

namespace ubique::nn {

/// Memory of a pass, rows of f32 values; kept from pass to pass.
struct HostStep::Buffers {
  explicit Buffers(const HostNetwork& network);

  std::vector<float> x, normed, qkv, mixed, attended, inner, factors, fed;
  // The input of the next products in 8 bits, if their weights are quantised.
  std::vector<std::int8_t> values;
  std::vector<float> scales;
  std::vector<std::int32_t> offsets;
  std::vector<float> logits;
};

class HostStep::Pass {
 public:
  Pass(const HostNetwork& network, Buffers& buffers, std::span<const HostToken> tokens,
       std::span<const KvCache> caches, kernels::HostTeam& team);

  void embed();
  void block(std::size_t layer);
  /// Logits (rows, V) of the tokens from `first` on.
  void head(std::size_t first, float* logits);
  /// The likeliest token of a row of logits.
  std::int64_t likeliest(const float* logits);

 private:
  struct Product {
    const HostLinear& layer;
    float* out;  // (rows, layer.out)
  };
  /// Where the heads of a row are.
  struct Heads {
    float* first;
    std::int64_t row, head;  // distances
    float* at(std::int64_t r, std::int64_t h) const { return first + r * row + h * head; }
  };

  void normalize(const HostNormWeights& norm, const HostLinear& next, std::int64_t first = 0);
  void quantize(const HostLinear& next, const float* x, std::int64_t row, std::int64_t begin,
                std::int64_t end);
  void multiply(std::span<const Product> products, const float* x);
  void multiply_piece(const Product& product, const float* x, std::int64_t piece,
                      std::int64_t pieces) const;
  std::int64_t pieces_of(const HostLinear& layer) const;
  void attention(std::size_t layer);
  void set_heads();
  void place_keys(const HostBlock& block, const KvCache& cache, std::int64_t row);
  void prepare_head(float* head, const at::Tensor& norm, std::int64_t position) const;
  void attend(const HostBlock& block, const KvCache& cache);
  void feed_forward(const HostBlock& block);

  const HostNetwork& network_;
  Buffers& buffers_;
  std::span<const HostToken> tokens_;
  std::span<const KvCache> caches_;
  kernels::HostTeam& team_;
  std::int64_t rows_;
  std::array<const float*, 2> pending_ = {};  // branches that the next norm adds to the residual
  Heads queries_ = {}, keys_ = {}, values_ = {};
};

}  // namespace ubique::nn
