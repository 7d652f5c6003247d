// SPDX-License-Identifier: Apache-2.0
// The text encoder: the encoder half of UMT5, whose layers each have a relative position bias of
// their own.
#pragma once

#include "ubique/models/acestep/net/config/config.h"
#include "ubique/nn/layers/network.h"

namespace ubique::acestep {

/// What queries are multiplied by to weaken the attention of a layer (the null branch of ERG
/// guidance).
inline constexpr double kWeakQuery = 0.01;

/// Layers first..last-1; empty by default.
struct LayerRange {
  std::int64_t first = 0, last = 0;
  bool contains(std::int64_t layer) const { return layer >= first && layer < last; }
};

struct Umt5Layer {
  nn::LinearWeights q, k, v, output, gate, up, down;
  at::Tensor position_bias;  ///< (buckets, heads)
  at::Tensor attention_norm, mlp_norm;
};

struct Umt5Weights {
  at::Tensor tokens;  ///< (V, H)
  std::vector<Umt5Layer> layers;
  at::Tensor final_norm;
};

/// Bucket of key position - query position for each of `count` positions: (count, count) i64.
at::Tensor relative_buckets(std::int64_t count, const Umt5Config& config);
/// Bucket of one distance key - query.
std::int64_t relative_bucket(std::int64_t distance, const Umt5Config& config);

class Umt5 final : public nn::Network {
 public:
  /// Parameters are zero.
  explicit Umt5(const Umt5Config& config, const at::TensorOptions& options = {});

  const Umt5Config& config() const { return config_; }
  /// Normed hidden states of token ids (B, S) i64, where mask (B, S) is not 0: (B, S, H). The
  /// queries of the weakened layers are nearly zero.
  at::Tensor forward(const at::Tensor& ids, const at::Tensor& mask,
                     const LayerRange& weakened = {}) const;
  /// What passes keep beside the parameters: a recorded one reads it too.
  std::vector<at::Tensor> tables() const { return {buckets_}; }

 private:
  void visit(nn::ParameterWalk& walk) override;
  at::Tensor buckets_of(std::int64_t count, c10::Device device) const;
  at::Tensor attend(const Umt5Layer& layer, const at::Tensor& x, const at::Tensor& bias,
                    double query_scale) const;

  Umt5Config config_;
  Umt5Weights weights_;
  mutable at::Tensor buckets_;  // relative_buckets() on the device of the last pass
};

/// Names and shapes of the parameters, allocating nothing.
nn::NamedShapes parameter_shapes(const Umt5Config& config);

}  // namespace ubique::acestep
