// SPDX-License-Identifier: Apache-2.0
// Which layers are adapted, and the adapters' tensors.
#include "ubique/nn/layers/lora_module.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/nn/layers/parameter_tree.h"

namespace ubique::nn {
namespace {

/// PEFT's rule, and its word for all.
bool matches_target(const std::string& layer, const std::string& target) {
  return target == kAllLinear || layer == target || layer.ends_with("." + target);
}

/// The last part of every layer's name that is not a number, once.
std::vector<std::string> known_targets(const std::vector<std::string>& layers) {
  std::set<std::string> known;
  for (const auto& name : layers) {
    auto begin = name.rfind('.') + 1;
    const bool number = name.find_first_not_of("0123456789", begin) == std::string::npos;
    if (number && begin > 1) begin = name.rfind('.', begin - 2) + 1;
    known.insert(name.substr(begin));
  }
  return {known.begin(), known.end()};
}

std::vector<std::string> names_of(const LinearLayers& layers) {
  std::vector<std::string> names;
  for (const auto& [name, weights] : layers) names.push_back(name);
  return names;
}

}  // namespace

double lora_scale(std::int64_t rank, double alpha, bool rank_stabilized) {
  const auto r = static_cast<double>(rank);
  return alpha / (rank_stabilized ? std::sqrt(r) : r);
}

std::vector<std::string> match_layers(const std::vector<std::string>& layers,
                                      const std::vector<std::string>& targets) {
  for (const auto& target : targets) {
    const bool any = std::ranges::any_of(
        layers, [&](const std::string& layer) { return matches_target(layer, target); });
    check(any, ErrorKind::Input,
          "[nn.lora] the target '{}' matches no layer of this network; expected some of {}, or {}.",
          printable(target), join(known_targets(layers), ", "), kAllLinear);
  }
  std::vector<std::string> matched;
  std::ranges::copy_if(layers, std::back_inserter(matched), [&](const std::string& layer) {
    return std::ranges::any_of(
        targets, [&](const std::string& target) { return matches_target(layer, target); });
  });
  return matched;
}

LoraModule::LoraModule(Network& network, LoraModuleOptions options)
    : network_(network), options_(std::move(options)) {
  validate(LoraOptions{.rank = options_.rank, .dropout = options_.dropout});
  layers_ = match_layers(names_of(network.linear_layers()), options_.targets);
  for (auto& parameter : network.parameters()) parameter.requires_grad_(false);
  for (const auto& [name, weights] : network.linear_layers()) {
    if (std::ranges::find(layers_, name) == layers_.end()) continue;
    const auto& values = weights->quantized ? weights->quantized->packed : weights->weight;
    const auto f32 = at::TensorOptions(at::kFloat).device(values.device());
    const auto out = weights->outputs(), in = weights->inputs();
    add_parameter(*this, name_of(name, "A"), at::zeros({options_.rank, in}, f32));
    add_parameter(*this, name_of(name, "B"), at::zeros({out, options_.rank}, f32));
  }
  if (options_.attached) attach();
}

std::string LoraModule::name_of(const std::string& layer, const char* part) const {
  return options_.prefix + layer + ".lora_" + part + ".weight";
}

std::vector<LoraModule::Adapted> LoraModule::adapted(double weight) const {
  const auto parameters = named_parameters();
  const std::map<std::string, LinearWeights*> by_name(network_.linear_layers().begin(),
                                                      network_.linear_layers().end());
  std::vector<Adapted> list;
  for (const auto& layer : layers_) {
    list.push_back({by_name.at(layer),
                    {.a = parameters[name_of(layer, "A")],
                     .b = parameters[name_of(layer, "B")],
                     .scale = options_.scale * weight,
                     .dropout = options_.dropout}});
  }
  return list;
}

void LoraModule::initialize(const Random& random) {
  const at::NoGradGuard no_gradients;
  std::uint64_t stream = 0;
  for (auto& [layer, lora] : adapted(1)) {
    // The layer's own weight may be quantised by now.
    lora.a.copy_(fresh_lora_a(options_.rank, lora.a.size(1), random.fork(stream++)));
    lora.b.zero_();
  }
}

void LoraModule::attach(double weight) {
  for (const auto& [layer, lora] : adapted(weight)) layer->adapters = {lora};
}

void LoraModule::append(double weight) {
  for (const auto& [layer, lora] : adapted(weight)) layer->adapters.push_back(lora);
}

void LoraModule::detach() {
  for (const auto& [layer, lora] : adapted(1)) layer->adapters.clear();
}

void LoraModule::merge(double weight) {
  const at::NoGradGuard no_gradients;
  for (const auto& [layer, lora] : adapted(weight)) {
    check(
        !layer->quantized, ErrorKind::Usage,
        "[nn.lora] adapters cannot be merged into quantised weights; expected the base as it is.");
    layer->weight.copy_(merged_weight(layer->weight, lora));
  }
}

}  // namespace ubique::nn
