// SPDX-License-Identifier: Apache-2.0
// A decoder-only transformer whose blocks follow the configuration: GPT-BigCode, StarCoder2, Phi,
// Llama, Qwen2 and Qwen3. Parameters have the names of Hugging Face files.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "ubique/engine/contract/block_weights.h"
#include "ubique/models/codelm/net/config.h"
#include "ubique/models/codelm/net/weights.h"
#include "ubique/nn/decode/host_network.h"
#include "ubique/nn/layers/attention.h"
#include "ubique/nn/layers/kv_cache.h"
#include "ubique/nn/layers/norm.h"

namespace ubique::codelm {

/// How one pass runs; the same for all layers.
struct PassOptions {
  bool training = false;       ///< dropout
  bool recompute = false;      ///< gradient checkpointing: each block is computed again in backward
  bool explicit_mask = false;  ///< no causal flag of the attention kernel (Metal up to torch 2.12)
  bool packed = false;         ///< documents by their offsets, where the device has kernels for it
  engine::BlockWeights* split = nullptr;  ///< has the blocks' weights, where they are split
};

/// Which tokens of a batch belong together; undefined tensors: each row is one document.
struct DocumentLayout {
  at::Tensor numbers;  ///< (B, T) i64: the document of each position
  at::Tensor starts;   ///< (n + 1) i32: as kernels::packed_attention takes it
};

class Codelm final : public nn::Network {
 public:
  /// Parameters are zero, f32, on the CPU.
  explicit Codelm(CodelmConfig config);

  const CodelmConfig& config() const { return config_; }

  /// Final hidden states of whole sequences: ids (B, T) i64, positions (B, T) i64: (B, T, H),
  /// normed.
  at::Tensor forward(const at::Tensor& ids, const at::Tensor& positions,
                     const DocumentLayout& documents, const PassOptions& options) const;
  /// The same for n new positions of each text, whose keys and values are added to `caches`, one
  /// per layer: ids (B, n) i64 to (B, n, H). Never synchronises with the host, so that it can be
  /// recorded.
  at::Tensor forward_cached(const at::Tensor& ids, const nn::NewPositions& places,
                            std::vector<nn::KvCache>& caches, const PassOptions& options) const;
  at::Tensor logits(const at::Tensor& hidden) const;  ///< (..., H) to (..., V)
  /// The network for passes over a few tokens on the CPU, which share its tensors; nothing if it is
  /// elsewhere, has adapters, or keeps its weights in a form that these passes do not read.
  std::optional<nn::HostNetwork> host_network() const;
  /// The same on any device, for nn::DeviceStep.
  std::optional<nn::HostNetwork> decoding_network() const;

  const at::Tensor& head() const { return config_.tied ? weights_.tokens : weights_.head; }
  const at::Tensor& head_bias() const { return weights_.head_bias; }  ///< (V) or undefined

  /// Keeps the weights of the blocks' linear layers in 8 or 4 bits and frees them; for a frozen
  /// network. `with_head` keeps a copy of the head in the same form. Input error for widths that
  /// are no whole groups.
  void quantize(kernels::QuantFormat format, bool double_quantized, bool with_head);
  bool is_quantized() const { return quantized_; }
  /// Moves what quantize() made; parameters are moved by to().
  void move_quantized(c10::Device device);

 private:
  struct Pass;
  /// The residual stream and what is still to be added to it, if defined.
  struct Stream {
    at::Tensor sum;          // (B, T, H)
    kernels::Branch branch;  // the same
  };
  void visit(nn::ParameterWalk& walk) override { visit_parameters(config_, weights_, walk); }
  at::Tensor embed(const at::Tensor& ids, const at::Tensor& positions, double dropout) const;
  Stream block(std::size_t layer, const Stream& x, const Pass& pass) const;
  kernels::Branch attend(const BlockWeights& weights, std::size_t layer, const at::Tensor& x,
                         const Pass& pass) const;
  kernels::Branch feed_forward(const BlockWeights& weights, std::size_t layer, const at::Tensor& x,
                               const Pass& pass) const;
  std::tuple<at::Tensor, at::Tensor, at::Tensor> project(const BlockWeights& weights,
                                                         const at::Tensor& x,
                                                         const Pass& pass) const;
  nn::Normed add_norm(const at::Tensor& residual, const kernels::Branch& branch,
                      const NormWeights& weights) const;
  void set_masks(const at::Tensor& ids, const DocumentLayout& documents, Pass& pass) const;
  void choose_kernels(const at::Tensor& embedded, Pass& pass) const;
  at::Tensor run_blocks(const at::Tensor& embedded, const Pass& pass) const;
  void make_rope_tables(c10::Device device) const;
  void set_rope(const at::Tensor& positions, Pass& pass) const;

  CodelmConfig config_;
  NetworkWeights weights_;
  std::shared_ptr<const kernels::QuantizedWeight> quantized_head_;
  bool quantized_ = false;
  mutable at::Tensor cos_, sin_;  // rotary tables on the device of the last pass
};

}  // namespace ubique::codelm
