// SPDX-License-Identifier: Apache-2.0
// The LoRA adapters of a network as a module of its own, under PEFT's names: what an adapter
// training optimizes and saves. The base network stays as it is.
#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

#include "ubique/models/codelm/net/network.h"
#include "ubique/nn/layers/lora.h"

namespace ubique::codelm {

inline constexpr const char* kPeftPrefix = "base_model.model.";

struct AdapterOptions {
  std::int64_t rank = 16;
  double alpha = 32;
  double dropout = 0.05;
  bool rank_stabilized = false;  ///< scale alpha / √rank instead of alpha / rank
  /// Layers to adapt, by the end of their names: "c_attn", "mlp.c_proj"; "all-linear" = every
  /// linear layer of the blocks.
  std::vector<std::string> targets = {};

  double scale() const;
};

Json to_json(const AdapterOptions& options);
AdapterOptions adapter_options(const Json& json, const std::string& where);

/// The layers that are adapted if nobody names any: all projections of attention and MLP.
std::vector<std::string> default_targets(const CodelmConfig& config);
/// Names of the layers that the targets match. Input error for a target that matches none, with the
/// layers that there are.
std::vector<std::string> target_layers(const CodelmConfig& config,
                                       const std::vector<std::string>& targets);

class Adapters final : public torch::nn::Module {
 public:
  /// Zero adapters for every target layer of `network`, which must outlive this. Freezes it.
  Adapters(Codelm& network, AdapterOptions options);

  const AdapterOptions& options() const { return options_; }
  void initialize(const Random& random);  ///< A as PEFT does it, B zero
  /// Attaches the present tensors to the layers; called again after they were moved.
  void attach();
  void detach();
  /// Adds weight·scale·B·A to the weights of the layers, for good.
  void merge(double weight = 1);

 private:
  struct Adapted {
    nn::LinearWeights* layer;
    at::Tensor a, b;
  };
  std::vector<Adapted> current() const;

  AdapterOptions options_;
  std::vector<std::pair<std::string, nn::LinearWeights*>> layers_;  // those that are adapted
};

}  // namespace ubique::codelm
