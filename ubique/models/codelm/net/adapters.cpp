// SPDX-License-Identifier: Apache-2.0
// Which layers are adapted, and the options in a checkpoint's header.
#include "ubique/models/codelm/net/adapters.h"

#include "ubique/models/codelm/net/config_fields.h"
#include "ubique/models/codelm/net/layout.h"

namespace ubique::codelm {

double AdapterOptions::scale() const { return nn::lora_scale(rank, alpha, rank_stabilized); }

Json to_json(const AdapterOptions& options) {
  return {{"rank", options.rank},
          {"alpha", options.alpha},
          {"dropout", options.dropout},
          {"rank_stabilized", options.rank_stabilized},
          {"targets", options.targets}};
}

AdapterOptions adapter_options(const Json& json, const std::string& where) {
  const ConfigFields fields(json, where);
  AdapterOptions options;
  options.rank = fields.size("rank", options.rank);
  options.alpha = fields.number("alpha", options.alpha);
  options.dropout = fields.number("dropout", options.dropout);
  options.rank_stabilized = fields.flag("rank_stabilized", false);
  options.targets = fields.words("targets");
  return options;
}

std::vector<std::string> default_targets(const CodelmConfig& config) {
  switch (config.architecture) {
    case Architecture::GptBigCode:
      return {"c_attn", "c_proj", "c_fc"};
    case Architecture::Starcoder2:
      return {"q_proj", "k_proj", "v_proj", "o_proj", "c_fc", "c_proj"};
    case Architecture::Phi:
      return {"q_proj", "k_proj", "v_proj", "dense", "fc1", "fc2"};
    default:
      return {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"};
  }
}

std::vector<std::string> target_layers(const CodelmConfig& config,
                                       const std::vector<std::string>& targets) {
  std::vector<std::string> layers;
  for (const auto& [name, shape] : linear_shapes(config)) layers.push_back(name);
  return nn::match_layers(layers, targets);
}

nn::LoraModuleOptions lora_options(const AdapterOptions& options) {
  nn::validate(
      nn::LoraOptions{.rank = options.rank, .alpha = options.alpha, .dropout = options.dropout});
  return {.rank = options.rank,
          .scale = options.scale(),
          .dropout = options.dropout,
          .targets = options.targets,
          .prefix = kPeftPrefix};
}

}  // namespace ubique::codelm
