// SPDX-License-Identifier: Apache-2.0
// The walk over parameters, and what a network does with it.
#include "ubique/nn/layers/network.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/nn/layers/parameter_tree.h"

namespace ubique::nn {
namespace {

thread_local int without_memory = 0;

}  // namespace

WithoutMemory::WithoutMemory() { ++without_memory; }
WithoutMemory::~WithoutMemory() { --without_memory; }

ParameterWalk::ParameterWalk(torch::nn::Module& found) {
  for (const auto& item : found.named_parameters()) found_[item.key()] = item.value();
}

void ParameterWalk::tensor(const std::string& name, std::vector<std::int64_t> shape,
                           at::Tensor& place) {
  if (const auto found = found_.find(name); found != found_.end()) place = found->second;
  shapes_.emplace_back(name, std::move(shape));
}

void ParameterWalk::weights(const std::string& name, std::vector<std::int64_t> shape,
                            WeightAndBias& place, bool bias) {
  const auto rows = shape.at(0);
  tensor(name + ".weight", std::move(shape), place.weight);
  if (bias) tensor(name + ".bias", {rows}, place.bias);
}

void ParameterWalk::linear(const std::string& name, std::int64_t out, std::int64_t in,
                           LinearWeights& place, bool bias) {
  tensor(name + ".weight", {out, in}, place.weight);
  if (bias) tensor(name + ".bias", {out}, place.bias);
  linear_layers_.emplace_back(name, &place);
}

void ParameterWalk::pointwise(const std::string& name, std::int64_t out, std::int64_t in,
                              LinearWeights& place, bool bias) {
  tensor(name + ".weight", {out, in, 1}, place.weight);
  if (bias) tensor(name + ".bias", {out}, place.bias);
}

std::int64_t count_values(const NamedShapes& shapes) {
  std::int64_t count = 0;
  for (const auto& [name, shape] : shapes) {
    std::int64_t size = 1;
    for (const auto extent : shape) size *= extent;
    count += size;
  }
  return count;
}

void Network::refresh() {
  ParameterWalk walk(*this);
  visit(walk);
  linear_layers_ = walk.linear_layers();
}

std::vector<NamedParameters> Network::blocks(const std::string& prefix, std::int64_t count,
                                             const std::vector<std::string>& except) {
  std::vector<NamedParameters> blocks(static_cast<std::size_t>(count));
  for (const auto& item : named_parameters()) {
    const auto& name = item.key();
    const auto contains = [&](const std::string& part) {
      return name.find(part) != std::string::npos;
    };
    if (!name.starts_with(prefix) || std::ranges::any_of(except, contains)) continue;
    const auto block = std::stoul(name.substr(prefix.size()));
    if (item.value().numel() > 0) blocks.at(block).emplace_back(name, item.value());
  }
  return blocks;
}

void Network::create(const at::TensorOptions& options) {
  ParameterWalk walk;
  visit(walk);
  for (const auto& [name, shape] : walk.shapes()) {
    add_parameter(
        *this, name,
        without_memory > 0 ? at::zeros({}, options).expand(shape) : at::zeros(shape, options));
  }
  refresh();
}

}  // namespace ubique::nn
