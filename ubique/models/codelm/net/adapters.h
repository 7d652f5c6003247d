// SPDX-License-Identifier: Apache-2.0
// What LoRA adapters of a network are: rank, scale and the layers that they adapt, as PEFT and the
// checkpoints say it.
#pragma once

#include <string>
#include <vector>

#include "ubique/models/codelm/net/config.h"
#include "ubique/nn/layers/lora_module.h"

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

/// How nn::LoraModule makes these adapters, under PEFT's names. Targets must be set.
nn::LoraModuleOptions lora_options(const AdapterOptions& options);

}  // namespace ubique::codelm
