// SPDX-License-Identifier: Apache-2.0
// How the transformer is adapted by LoRA: rank, strength, and which layers.
#pragma once

#include <string>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/models/acestep/net/dit.h"
#include "ubique/nn/layers/lora_module.h"

namespace ubique::acestep {

struct AdapterOptions {
  std::int64_t rank = 16;
  double alpha = 32;
  bool rank_stabilized = false;  ///< the scale is alpha / √rank instead of alpha / rank
  double dropout = 0;
  /// Ends of layers' names: of both attentions in every block, and of the lyric encoder.
  std::vector<std::string> targets = {"to_q",     "to_k",     "to_v",    "to_out.0",
                                      "linear_q", "linear_k", "linear_v"};

  double scale() const { return nn::lora_scale(rank, alpha, rank_stabilized); }
};

Json to_json(const AdapterOptions& options);
/// Input error that names `where` and the key.
AdapterOptions parse_adapter_options(const Json& json, const std::string& where);
/// Usage error for values out of range.
void validate(const AdapterOptions& options);

/// Zero adapters on the transformer, which is then frozen and must outlive them.
std::unique_ptr<nn::LoraModule> make_adapter(Dit& dit, const AdapterOptions& options,
                                             bool attached = true);
/// Names and shapes of what an adapter with these options trains, allocating nothing. Input error
/// for a target that matches no layer.
nn::NamedShapes adapter_shapes(const DitConfig& config, const AdapterOptions& options);

}  // namespace ubique::acestep
