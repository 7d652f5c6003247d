// SPDX-License-Identifier: Apache-2.0
// Which layers are adapted, and the adapters' tensors.
#include "ubique/nn/layers/lora_module.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/nn/layers/parameter_tree.h"

namespace ubique::nn {
namespace {

bool matches_target(const std::string& layer, const std::string& target) {
  return layer == target || layer.ends_with("." + target);
}

std::string name_of_a(const std::string& layer) { return layer + ".lora_A.weight"; }
std::string name_of_b(const std::string& layer) { return layer + ".lora_B.weight"; }

/// The last part of every layer's name that is not a number, once.
std::vector<std::string> known_targets(const Network& network) {
  std::set<std::string> known;
  for (const auto& [name, weights] : network.linear_layers()) {
    auto begin = name.rfind('.') + 1;
    const bool number = name.find_first_not_of("0123456789", begin) == std::string::npos;
    if (number && begin > 1) begin = name.rfind('.', begin - 2) + 1;
    known.insert(name.substr(begin));
  }
  return {known.begin(), known.end()};
}

}  // namespace

double lora_scale(std::int64_t rank, double alpha, bool rank_stabilized) {
  const auto r = static_cast<double>(rank);
  return alpha / (rank_stabilized ? std::sqrt(r) : r);
}

LoraModule::LoraModule(Network& network, LoraModuleOptions options)
    : network_(network), options_(std::move(options)) {
  validate(LoraOptions{.rank = options_.rank, .dropout = options_.dropout});
  const auto& layers = network.linear_layers();
  for (const auto& target : options_.targets) {
    const bool any = std::ranges::any_of(
        layers, [&](const auto& layer) { return matches_target(layer.first, target); });
    check(any, ErrorKind::Input,
          "[nn.lora] the target '{}' matches no layer of this network; expected some of {}.",
          printable(target), join(known_targets(network), ", "));
  }
  for (auto& parameter : network.parameters()) parameter.requires_grad_(false);
  for (const auto& [name, weights] : layers) {
    const bool wanted = std::ranges::any_of(
        options_.targets,
        [&, &layer = name](const std::string& target) { return matches_target(layer, target); });
    if (!wanted) continue;
    layers_.push_back(name);
    const auto f32 = at::TensorOptions(at::kFloat).device(weights->weight.device());
    const auto out = weights->weight.size(0), in = weights->weight.size(1);
    add_parameter(*this, name_of_a(name), at::zeros({options_.rank, in}, f32));
    add_parameter(*this, name_of_b(name), at::zeros({out, options_.rank}, f32));
  }
  attach();
}

std::vector<LoraModule::Adapted> LoraModule::adapted(double weight) const {
  const auto parameters = named_parameters();
  const std::map<std::string, LinearWeights*> by_name(network_.linear_layers().begin(),
                                                      network_.linear_layers().end());
  std::vector<Adapted> list;
  for (const auto& layer : layers_) {
    list.push_back({by_name.at(layer),
                    {.a = parameters[name_of_a(layer)],
                     .b = parameters[name_of_b(layer)],
                     .scale = options_.scale * weight,
                     .dropout = options_.dropout}});
  }
  return list;
}

void LoraModule::initialize(const Random& random) {
  const at::NoGradGuard no_gradients;
  std::uint64_t stream = 0;
  for (auto& [layer, lora] : adapted(1)) {
    const auto fresh = make_lora(layer->weight, {.rank = options_.rank}, random.fork(stream++));
    lora.a.copy_(fresh.a);
    lora.b.zero_();
  }
}

void LoraModule::attach(double weight) {
  for (const auto& [layer, lora] : adapted(weight)) layer->adapters = {lora};
}

void LoraModule::detach() {
  for (const auto& [layer, lora] : adapted(1)) layer->adapters.clear();
}

void LoraModule::merge(double weight) {
  const at::NoGradGuard no_gradients;
  for (const auto& [layer, lora] : adapted(weight)) {
    layer->weight.copy_(merged_weight(layer->weight, lora));
  }
}

}  // namespace ubique::nn
