// SPDX-License-Identifier: Apache-2.0
// Parses tensor names, checks shapes, infers the configuration and renames tensors.
#include "ubique/models/meshnet/files/import_layers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>

#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::meshnet {
namespace {

/// A parsed name: "network.3.bn.bias" is the field "bias" of the part "bn" of layer 3.
struct TensorName {
  std::string root;  // "network", "model" or empty
  std::string part;  // "conv", "0", "bn", "bnorm", "1" or empty: a convolution without a block
  std::string field;
  int index = 0;
};

std::optional<int> whole_number(const std::string& text) {
  int value = 0;
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

std::optional<TensorName> parse_tensor_name(const std::string& text) {
  auto words = split(text, '.');
  std::erase_if(words, [](const auto& word) { return word == "module" || word == "_orig_mod"; });
  TensorName name;
  if (!words.empty() && (words.front() == "network" || words.front() == "model")) {
    name.root = words.front();
    words.erase(words.begin());
  }
  if (words.size() < 2 || words.size() > 3) return std::nullopt;
  const auto index = whole_number(words.front());
  if (!index) return std::nullopt;
  name.index = *index;
  if (words.size() == 3) name.part = words[1];
  name.field = words.back();
  return name;
}

/// The member of `layer` that the name means; null if a MeshNet has no such tensor.
at::Tensor* slot_of(const TensorName& name, ImportedLayer& layer) {
  const bool conv = name.part.empty() || name.part == "conv" || name.part == "0";
  const bool norm = name.part == "bn" || name.part == "bnorm" || name.part == "1";
  if (name.field == "weight") return conv ? &layer.weight : norm ? &layer.norm_weight : nullptr;
  if (name.field == "bias") return conv ? &layer.bias : norm ? &layer.norm_bias : nullptr;
  if (!norm) return nullptr;
  if (name.field == "running_mean") return &layer.running_mean;
  if (name.field == "running_var") return &layer.running_var;
  if (name.field == "num_batches_tracked") return &layer.batches;
  return nullptr;
}

std::string naming_of(const TensorName& first) {
  if (first.root == "network") return "arc-meshchop";
  if (first.part == "conv") return "notebook";
  return first.part.empty() ? "flat" : "enMesh";
}

[[noreturn]] void refuse_names(std::span<const io::HostTensor> tensors, const std::string& name,
                               const std::string& file) {
  fail(ErrorKind::Input,
       "[meshnet.import] {} is not a MeshNet; got {} tensors, among them '{}', expected a chain of "
       "3D convolutions under names like network.0.conv.weight or model.0.0.weight.",
       file, tensors.size(), printable(name));
}

std::string dims_text(const at::Tensor& tensor) {
  return io::shape_text({tensor.sizes().begin(), tensor.sizes().end()});
}

void check_weight(const ImportedLayers& layers, std::size_t index, const std::string& file) {
  const auto& weight = layers.layers[index].weight;
  const bool last = index + 1 == layers.layers.size();
  const auto& first = layers.layers.front().weight;
  const auto kernel = last ? 1 : first.size(2);
  const auto in = index == 0 ? first.size(1) : first.size(0);
  check(weight.dim() == 5, ErrorKind::Input,
        "[meshnet.import] {}: layer {} is no 3D convolution; got a weight of shape {}, expected "
        "five dimensions.",
        file, index, dims_text(weight));
  const bool cube = weight.size(2) == weight.size(3) && weight.size(3) == weight.size(4);
  const bool halves = weight.size(2) == 2 || (!last && weight.size(0) != first.size(0));
  check(!halves, ErrorKind::Input,
        "[meshnet.import] {}: layer {} has a weight of shape {}; networks with down- and "
        "upsampling (BrainChop's SAE tissue models) are not supported, expected one width "
        "throughout.",
        file, index, dims_text(weight));
  check(cube && weight.size(2) == kernel && weight.size(1) == in, ErrorKind::Input,
        "[meshnet.import] {}: layer {} does not fit the others; got a weight of shape {}, expected "
        "{} input channels and a kernel of {}.",
        file, index, dims_text(weight), in, kernel);
}

bool has_norm(const ImportedLayer& layer) { return layer.running_mean.defined(); }

void check_vectors(const ImportedLayer& layer, std::size_t index, const std::string& file) {
  for (const auto* vector : {&layer.bias, &layer.norm_weight, &layer.norm_bias, &layer.running_mean,
                             &layer.running_var}) {
    check(!vector->defined() || vector->numel() == layer.weight.size(0), ErrorKind::Input,
          "[meshnet.import] {}: layer {} has {} values for {} channels; expected one for each.",
          file, index, vector->defined() ? vector->numel() : 0, layer.weight.size(0));
  }
  const auto known = static_cast<int>(layer.norm_weight.defined()) + layer.norm_bias.defined() +
                     layer.running_mean.defined() + layer.running_var.defined();
  check(known == 0 || known == 4, ErrorKind::Input,
        "[meshnet.import] {}: layer {} has half a batch norm; got {} of its tensors, expected "
        "weight, bias, running_mean and running_var.",
        file, index, known);
}

void check_alike(const ImportedLayers& layers, const std::string& file) {
  const auto& first = layers.layers.front();
  for (std::size_t i = 0; i + 1 < layers.layers.size(); ++i) {
    const auto& layer = layers.layers[i];
    check(layer.bias.defined() == first.bias.defined() && has_norm(layer) == has_norm(first),
          ErrorKind::Input,
          "[meshnet.import] {}: layer {} has other parts than layer 0; expected a bias and a batch "
          "norm in all of them or in none.",
          file, i);
  }
  check(layers.layers.back().bias.defined() && !has_norm(layers.layers.back()), ErrorKind::Input,
        "[meshnet.import] {}: the last layer is no classifier; expected a 1x1x1 convolution with a "
        "bias and no norm.",
        file);
}

}  // namespace

at::Tensor tensor_of(const io::HostTensor& tensor) {
  auto copy = engine::torch_tensor(tensor);
  return copy.is_floating_point() ? copy.to(at::kFloat) : copy;
}

bool is_layer_name(const std::string& name) {
  ImportedLayer any;
  const auto parsed = parse_tensor_name(name);
  return parsed && slot_of(*parsed, any) != nullptr;
}

ImportedLayers sort_layers(std::span<const io::HostTensor> tensors, const std::string& file) {
  std::map<int, ImportedLayer> by_index;
  ImportedLayers result;
  for (const auto& tensor : tensors) {
    const auto parsed = parse_tensor_name(tensor.name);
    auto* slot = parsed ? slot_of(*parsed, by_index[parsed->index]) : nullptr;
    if (slot == nullptr) refuse_names(tensors, tensor.name, file);
    check(!slot->defined(), ErrorKind::Input,
          "[meshnet.import] {}: '{}' is there twice under different names.", file,
          printable(tensor.name));
    *slot = tensor_of(tensor);
    if (result.naming.empty()) result.naming = naming_of(*parsed);
  }
  for (auto& [index, layer] : by_index) {
    check(layer.weight.defined(), ErrorKind::Input,
          "[meshnet.import] {}: layer {} has no convolution weight.", file, index);
    result.layers.push_back(std::move(layer));
  }
  check(result.layers.size() >= 2, ErrorKind::Input,
        "[meshnet.import] {} is not a MeshNet; got {} layers, expected at least 2.", file,
        result.layers.size());
  return result;
}

MeshNetConfig infer_config(const ImportedLayers& layers, const std::string& file) {
  const auto& first = layers.layers.front();
  for (std::size_t i = 0; i < layers.layers.size(); ++i) {
    check_weight(layers, i, file);
    check_vectors(layers.layers[i], i, file);
  }
  check_alike(layers, file);
  MeshNetConfig config;
  config.in_channels = first.weight.size(1);
  config.channels = first.weight.size(0);
  config.classes = layers.layers.back().weight.size(0);
  config.kernel = first.weight.size(2);
  config.bias = first.bias.defined();
  // No batch norm and no biases: the norm must be one without weights.
  config.norm = has_norm(first) ? Norm::Batch : config.bias ? Norm::None : Norm::Instance;
  config.dilations.clear();
  return config;
}

engine::NamedTensors arc_state(const ImportedLayers& layers, const MeshNetConfig& config) {
  engine::NamedTensors state;
  const auto last = layers.layers.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    const auto& layer = layers.layers[i];
    const auto prefix = fmt::format("network.{}.", i);
    state.emplace_back(prefix + "conv.weight", layer.weight);
    if (config.bias) state.emplace_back(prefix + "conv.bias", layer.bias);
    if (config.norm != Norm::Batch) continue;
    state.emplace_back(prefix + "bn.weight", layer.norm_weight);
    state.emplace_back(prefix + "bn.bias", layer.norm_bias);
    state.emplace_back(prefix + "bn.running_mean", layer.running_mean);
    state.emplace_back(prefix + "bn.running_var", layer.running_var);
    state.emplace_back(prefix + "bn.num_batches_tracked",
                       layer.batches.defined() ? layer.batches.to(at::kLong)
                                               : at::zeros({}, at::TensorOptions(at::kLong)));
  }
  state.emplace_back(fmt::format("network.{}.weight", last), layers.layers[last].weight);
  state.emplace_back(fmt::format("network.{}.bias", last), layers.layers[last].bias);
  return state;
}

}  // namespace ubique::meshnet
