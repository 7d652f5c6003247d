// SPDX-License-Identifier: Apache-2.0
// Lists, loads and moves the parameters and buffers of a torch module.
#include "ubique/engine/checkpoint/state_dict.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <unordered_map>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique::engine {
namespace {

std::string shape_text(at::IntArrayRef shape) {
  return fmt::format("({})", fmt::join(shape.begin(), shape.end(), ", "));
}

[[noreturn]] void fail_names(const std::string& where, const std::string& what,
                             std::vector<std::string> names) {
  constexpr std::size_t kMostShown = 5;
  const auto count = names.size();
  if (count > kMostShown) names.resize(kMostShown);
  fail(ErrorKind::Input,
       "[engine.load] {} holds another network: {} {} tensor{}, e.g. {}. Was it made with other "
       "settings?",
       where, count, what, count == 1 ? "" : "s", join(names, ", "));
}

/// Input error if the names differ.
void compare_names(const std::set<std::string>& given, const std::set<std::string>& expected,
                   const std::string& where) {
  std::vector<std::string> missing, unknown;
  std::ranges::set_difference(expected, given, std::back_inserter(missing));
  std::ranges::set_difference(given, expected, std::back_inserter(unknown));
  if (!missing.empty()) fail_names(where, "missing", std::move(missing));
  if (!unknown.empty()) fail_names(where, "unknown", std::move(unknown));
}

void compare_shape(at::IntArrayRef got, at::IntArrayRef expected, const std::string& name,
                   const std::string& where) {
  check(got == expected, ErrorKind::Input,
        "[engine.load] {} holds another network: tensor {} has shape {}, expected {}.", where, name,
        shape_text(got), shape_text(expected));
}

void copy_value(at::Tensor target, const at::Tensor& value, const std::string& name,
                const std::string& where) {
  compare_shape(value.sizes(), target.sizes(), name, where);
  check(target.is_floating_point() == value.is_floating_point(), ErrorKind::Input,
        "[engine.load] {}: tensor {} is {}, expected {}.", where, name,
        c10::toString(value.scalar_type()), c10::toString(target.scalar_type()));
  target.copy_(value);
}

at::MemoryFormat layout_for(const at::Tensor& tensor, probe::Layout layout) {
  if (layout == probe::Layout::ChannelsLast) {
    if (tensor.dim() == 4) return at::MemoryFormat::ChannelsLast;
    if (tensor.dim() == 5) return at::MemoryFormat::ChannelsLast3d;
  }
  return at::MemoryFormat::Contiguous;
}

}  // namespace

NamedTensors trainable_parameters(torch::nn::Module& network) {
  NamedTensors list;
  std::set<const void*> seen;
  for (const auto& item : network.named_parameters()) {
    const auto& tensor = item.value();
    if (!tensor.requires_grad() || !seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    list.emplace_back(item.key(), tensor);
  }
  return list;
}

NamedTensors running_statistics(torch::nn::Module& network) {
  constexpr std::array<std::string_view, 3> kNames = {"running_mean", "running_var",
                                                      "num_batches_tracked"};
  NamedTensors list;
  for (const auto& item : network.named_buffers()) {
    const auto last = item.key().substr(item.key().rfind('.') + 1);
    const bool changes = std::find(kNames.begin(), kNames.end(), last) != kNames.end();
    if (changes && item.value().defined()) list.emplace_back(item.key(), item.value());
  }
  return list;
}

NamedTensors state_dict(torch::nn::Module& network) {
  NamedTensors list;
  for (const auto& item : network.named_parameters()) list.emplace_back(item.key(), item.value());
  for (const auto& item : network.named_buffers()) {
    if (item.value().defined()) list.emplace_back(item.key(), item.value());
  }
  return list;
}

void load_state(torch::nn::Module& network, const NamedTensors& values, const std::string& where) {
  const c10::NoGradGuard no_gradients;
  std::unordered_map<std::string, at::Tensor> given(values.begin(), values.end());
  const auto targets = state_dict(network);
  std::set<std::string> names, expected;
  for (const auto& [name, value] : values) names.insert(name);
  for (const auto& [name, target] : targets) expected.insert(name);
  compare_names(names, expected, where);
  for (const auto& [name, target] : targets) copy_value(target, given.at(name), name, where);
}

void check_shapes(const NamedTensors& tensors, const NamedShapes& expected,
                  const std::string& where) {
  std::unordered_map<std::string, at::Tensor> given;
  std::set<std::string> names, expected_names;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined()) continue;  // a part that the file lacks
    given.emplace(name, tensor);
    names.insert(name);
  }
  for (const auto& [name, shape] : expected) expected_names.insert(name);
  compare_names(names, expected_names, where);
  for (const auto& [name, shape] : expected) {
    compare_shape(given.at(name).sizes(), shape, name, where);
  }
}

void check_stored_size(std::int64_t expected, const NamedTensors& values,
                       const std::string& where) {
  // A few more numbers cost nothing, and load_state() names the tensor.
  constexpr std::int64_t kSmall = 1 << 20;
  std::int64_t stored = 0;
  for (const auto& [name, value] : values) stored += value.numel();
  check(expected / 2 <= stored + kSmall, ErrorKind::Input,
        "[engine.load] {}: the configuration describes another network than the tensors; got one "
        "of {} numbers, expected one of the {} that are stored.",
        where, expected, stored);
}

void move_network(torch::nn::Module& network, const plan::Plan& plan, c10::Device device) {
  network.to(device);
  if (plan.dtype.value == DType::F64) network.to(at::kDouble);
  const c10::NoGradGuard no_gradients;
  for (auto& parameter : network.parameters()) {
    const auto layout = layout_for(parameter, plan.memory_format.value);
    if (parameter.is_contiguous(layout)) continue;
    parameter.set_data(parameter.detach().contiguous(layout));
  }
}

at::Tensor find_tensor(const NamedTensors& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const auto& item) { return item.first == name; });
  return found == tensors.end() ? at::Tensor() : found->second;
}

}  // namespace ubique::engine
