// SPDX-License-Identifier: Apache-2.0
// Modules made from the parts of dotted names.
#include "ubique/nn/layers/parameter_tree.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "ubique/base/text/text.h"

namespace ubique::nn {
namespace {

/// A module that only gives its tensors a name prefix.
class Scope final : public torch::nn::Module {};

/// The module that holds the tensor at `path`; missing modules are created.
torch::nn::Module& scope_of(torch::nn::Module& root, const std::vector<std::string>& path) {
  auto* module = &root;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const auto children = module->named_children();  // a copy, into which find() points
    const auto* child = children.find(path[i]);
    module = child != nullptr ? child->get()
                              : module->register_module(path[i], std::make_shared<Scope>()).get();
  }
  return *module;
}

}  // namespace

at::Tensor add_parameter(torch::nn::Module& root, const std::string& name,
                         const at::Tensor& value) {
  const auto path = split(name, '.');
  return scope_of(root, path).register_parameter(path.back(), value);
}

at::Tensor add_buffer(torch::nn::Module& root, const std::string& name, const at::Tensor& value) {
  const auto path = split(name, '.');
  return scope_of(root, path).register_buffer(path.back(), value);
}

}  // namespace ubique::nn
