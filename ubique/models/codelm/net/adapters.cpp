// SPDX-License-Identifier: Apache-2.0
// Which layers are adapted, and the adapters' tensors.
#include "ubique/models/codelm/net/adapters.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/models/codelm/net/config_fields.h"
#include "ubique/models/codelm/net/layout.h"
#include "ubique/nn/layers/parameter_tree.h"

namespace ubique::codelm {
namespace {

constexpr const char* kAllLinear = "all-linear";

/// PEFT's rule: the whole name, or its end after a dot.
bool matches_target(const std::string& layer, const std::string& target) {
  return target == kAllLinear || layer == target || layer.ends_with("." + target);
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

std::string name_of_a(const std::string& layer) { return kPeftPrefix + layer + ".lora_A.weight"; }
std::string name_of_b(const std::string& layer) { return kPeftPrefix + layer + ".lora_B.weight"; }

}  // namespace

double AdapterOptions::scale() const {
  const auto r = static_cast<double>(rank);
  return alpha / (rank_stabilized ? std::sqrt(r) : r);
}

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
  const auto layers = linear_shapes(config);
  std::vector<std::string> matched;
  for (const auto& target : targets) {
    const bool any = std::ranges::any_of(
        layers, [&](const auto& layer) { return matches_target(layer.first, target); });
    if (any) continue;
    std::set<std::string> known;
    for (const auto& [name, shape] : layers) known.insert(last_part(name));
    fail(ErrorKind::Input,
         "[codelm.lora] the target '{}' matches no layer of this {}; expected some of {}, or "
         "all-linear.",
         printable(target), to_string(config.architecture),
         join(std::vector<std::string>(known.begin(), known.end()), ", "));
  }
  for (const auto& [name, shape] : layers) {
    const bool wanted = std::ranges::any_of(
        targets, [&](const std::string& target) { return matches_target(name, target); });
    if (wanted) matched.push_back(name);
  }
  return matched;
}

Adapters::Adapters(Codelm& network, AdapterOptions options) : options_(std::move(options)) {
  if (options_.targets.empty()) options_.targets = default_targets(network.config());
  nn::validate(
      nn::LoraOptions{.rank = options_.rank, .alpha = options_.alpha, .dropout = options_.dropout});
  const auto targets = target_layers(network.config(), options_.targets);
  const std::set<std::string> wanted(targets.begin(), targets.end());
  for (auto& parameter : network.parameters()) parameter.requires_grad_(false);
  for (const auto& [name, layer] : network.linear_layers()) {
    if (!wanted.contains(name)) continue;
    layers_.emplace_back(name, layer);
    const auto& weight = layer->weight;  // (out, in)
    nn::add_parameter(*this, name_of_a(name), at::zeros({options_.rank, weight.size(1)}));
    nn::add_parameter(*this, name_of_b(name), at::zeros({weight.size(0), options_.rank}));
  }
  attach();
}

std::vector<Adapters::Adapted> Adapters::current() const {
  const auto parameters = named_parameters();
  std::vector<Adapted> list;
  for (const auto& [name, layer] : layers_) {
    list.push_back({layer, parameters[name_of_a(name)], parameters[name_of_b(name)]});
  }
  return list;
}

void Adapters::initialize(const Random& random) {
  const at::NoGradGuard no_gradients;
  std::uint64_t stream = 0;
  for (const auto& adapted : current()) {
    auto a = adapted.a, b = adapted.b;
    a.copy_(nn::fresh_lora_a(a.size(0), a.size(1), random.fork(stream++)));
    b.zero_();
  }
}

void Adapters::attach() {
  for (const auto& adapted : current()) {
    adapted.layer->adapters = {
        {.a = adapted.a, .b = adapted.b, .scale = options_.scale(), .dropout = options_.dropout}};
  }
}

void Adapters::detach() {
  for (const auto& [name, layer] : layers_) layer->adapters.clear();
}

void Adapters::merge(double weight) {
  const at::NoGradGuard no_gradients;
  for (const auto& adapted : current()) {
    auto target = adapted.layer->weight;
    const nn::Lora lora{.a = adapted.a, .b = adapted.b, .scale = weight * options_.scale()};
    target.copy_(nn::merged_weight(target, lora));
  }
}

}  // namespace ubique::codelm
