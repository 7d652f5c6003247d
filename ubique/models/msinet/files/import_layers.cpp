// SPDX-License-Identifier: Apache-2.0
// Name patterns of the systems, and the conversion of their values to ours.
#include "ubique/models/msinet/files/import_layers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"

namespace ubique::msinet {
namespace {

/// The system a name comes from, where it matters for the values.
enum class Naming { MsiNet, Torchvision, KerasVgg, Skipped };

struct ParsedName {
  Naming naming = Naming::MsiNet;
  std::string layer;  // "conv1_conv1_1"
  bool is_bias = false;
};

constexpr std::string_view kDigits = "0123456789";

std::string stage_layer(char stage, char index) {
  return fmt::format("conv{}_conv{}_{}", stage, stage, index);
}

/// torchvision's layer numbers, which count ReLUs and max pooling too.
std::optional<std::string> torchvision_layer(int index) {
  constexpr std::array<std::array<int, 3>, 13> kNumbers = {{{0, 1, 1},
                                                            {2, 1, 2},
                                                            {5, 2, 1},
                                                            {7, 2, 2},
                                                            {10, 3, 1},
                                                            {12, 3, 2},
                                                            {14, 3, 3},
                                                            {17, 4, 1},
                                                            {19, 4, 2},
                                                            {21, 4, 3},
                                                            {24, 5, 1},
                                                            {26, 5, 2},
                                                            {28, 5, 3}}};
  for (const auto& [number, stage, layer] : kNumbers) {
    if (number == index)
      return stage_layer(static_cast<char>('0' + stage), static_cast<char>('0' + layer));
  }
  return std::nullopt;
}

/// The name without its last part, and whether that part says bias; nothing if it says neither.
std::optional<std::pair<std::string, bool>> split_field(std::string name) {
  if (name.ends_with(":0")) name.resize(name.size() - 2);
  const auto cut = name.find_last_of("./");
  if (cut == std::string::npos) return std::nullopt;
  const auto field = name.substr(cut + 1);
  const bool kernel = field == "kernel" || field == "weight" || field == "weights";
  const bool bias = field == "bias" || field == "biases";
  if (!kernel && !bias) return std::nullopt;
  return std::pair(name.substr(0, cut), bias);
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts, [&](auto start) { return text.starts_with(start); });
}

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](auto end) { return text.ends_with(end); });
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

/// fc6/weights, predictions.bias: layers of a classifier, with or without a number.
bool is_dense_layer(std::string_view name) {
  for (const std::string_view start : {"fc", "predictions"}) {
    if (!name.starts_with(start)) continue;
    const auto after = name.find_first_not_of(kDigits, start.size());
    if (after != std::string_view::npos &&
        std::string_view("./_").find(name[after]) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

bool is_skipped(std::string_view name) {
  if (name.ends_with(":0")) name.remove_suffix(2);
  return ends_with_any(name, {"/Adam", "/Adam_1", "/Momentum", "/ExponentialMovingAverage",
                              "_power", "global_step"}) ||
         starts_with_any(name, {"optimizer", "classifier.", "classifier/"}) || is_dense_layer(name);
}

/// The digits of `text` where `pattern` has '#'; nothing if the rest differs.
std::optional<std::string> digits_in(std::string_view text, std::string_view pattern) {
  if (text.size() != pattern.size()) return std::nullopt;
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = kDigits.find(text[i]) != std::string_view::npos;
    if (pattern[i] == '#' ? !digit : text[i] != pattern[i]) return std::nullopt;
    if (pattern[i] == '#') digits += text[i];
  }
  return digits;
}

bool is_own_layer(std::string_view layer) {
  const auto stage = digits_in(layer, "conv#_conv#_#");
  if (stage) return (*stage)[0] == (*stage)[1];
  if (layer == "aspp_conv2") return true;
  for (const std::string_view start : {"aspp_conv1_", "decoder_conv"}) {
    if (layer.starts_with(start)) return all_digits(layer.substr(start.size()));
  }
  return false;
}

/// The layer's name here, and where it comes from. Names are a stranger's: no std::regex, which
/// recurses for every character.
std::optional<ParsedName> parse_layer_name(const std::string& name) {
  if (is_skipped(name)) return ParsedName{Naming::Skipped, {}, false};
  const auto parts = split_field(name);
  if (!parts) return std::nullopt;
  auto layer = parts->first;
  std::replace(layer.begin(), layer.end(), '/', '_');
  std::replace(layer.begin(), layer.end(), '.', '_');
  if (is_own_layer(layer)) return ParsedName{Naming::MsiNet, layer, parts->second};
  if (const auto found = digits_in(layer, "conv#_#")) {
    return ParsedName{Naming::MsiNet, stage_layer((*found)[0], (*found)[1]), parts->second};
  }
  if (const auto found = digits_in(layer, "block#_conv#")) {
    return ParsedName{Naming::KerasVgg, stage_layer((*found)[0], (*found)[1]), parts->second};
  }
  for (const std::string_view pattern : {"features_#", "features_##", "features_###"}) {
    const auto index = digits_in(layer, pattern);
    const auto found = index ? torchvision_layer(std::stoi(*index)) : std::nullopt;
    if (found) return ParsedName{Naming::Torchvision, *found, parts->second};
  }
  return std::nullopt;
}

[[noreturn]] void refuse_names(std::span<const io::HostTensor> tensors, const io::HostTensor& odd,
                               const std::string& where) {
  fail(ErrorKind::Input,
       "[msinet.import] {} is not an MSI-Net; got {} tensors, among them '{}' {}, expected "
       "convolutions under names like conv1/conv1_1/kernel [3, 3, 3, 64], aspp/conv2 and "
       "decoder/conv4, or a VGG16's.",
       where, tensors.size(), printable(odd.name), io::shape_text(odd.shape));
}

at::Tensor values_of(const io::HostTensor& tensor, bool is_bias, KernelOrder order,
                     const std::string& where) {
  const std::size_t dims = is_bias ? 1 : 4;
  check(
      tensor.shape.size() == dims && is_floating(tensor.dtype), ErrorKind::Input,
      "[msinet.import] {}: '{}' is not a {}; got {} of shape {}, expected {} dimensions of floats.",
      where, printable(tensor.name), is_bias ? "bias" : "kernel", to_string(tensor.dtype),
      io::shape_text(tensor.shape), dims);
  const auto values = engine::torch_tensor(tensor).to(at::kFloat);
  if (is_bias || order == KernelOrder::Torch) return values;
  const bool last = order == KernelOrder::ChannelsLast;  // else (k, k, I, O)
  return values.permute(last ? at::IntArrayRef{0, 3, 1, 2} : at::IntArrayRef{3, 2, 0, 1})
      .contiguous();  // (O, I, k, k)
}

/// torchvision's input is (x/255 - mean)/deviation. The same result: input x - 255·mean, kernels
/// divided by 255·deviation.
void fold_torchvision(FoundLayers& found) {
  constexpr std::array<double, 3> kDeviations = {0.229, 0.224, 0.225};
  const auto first = found.layers.find("conv1_conv1_1");
  if (first != found.layers.end() && first->second.weight.defined() &&
      first->second.weight.size(1) == 3) {
    auto scale = at::empty({1, 3, 1, 1}, at::kDouble);
    for (std::int64_t c = 0; c < 3; ++c) {
      scale[0][c][0][0].fill_(255 * kDeviations[static_cast<std::size_t>(c)]);
    }
    first->second.weight = (first->second.weight.to(at::kDouble) / scale).to(at::kFloat);
  }
  found.preprocessing = preprocessing_variant("torchvision");
}

/// Keras's VGG16 expects the channel order B, G, R.
void reverse_colours(FoundLayers& found) {
  const auto first = found.layers.find("conv1_conv1_1");
  if (first != found.layers.end() && first->second.weight.defined()) {
    first->second.weight = first->second.weight.flip({1}).contiguous();
  }
  found.preprocessing = preprocessing_variant("caffe");
}

}  // namespace

bool is_layer_name(const std::string& name) {
  const auto parsed = parse_layer_name(name);
  return parsed && parsed->naming != Naming::Skipped;
}

bool are_layer_names(std::span<const std::string> names) {
  return std::any_of(names.begin(), names.end(), is_layer_name) &&
         std::all_of(names.begin(), names.end(),
                     [](const std::string& name) { return parse_layer_name(name).has_value(); });
}

FoundLayers sort_layers(std::span<const io::HostTensor> tensors, KernelOrder order,
                        const std::string& where) {
  FoundLayers found;
  auto naming = Naming::MsiNet;
  for (const auto& tensor : tensors) {
    const auto parsed = parse_layer_name(tensor.name);
    if (!parsed) refuse_names(tensors, tensor, where);
    if (parsed->naming == Naming::Skipped) continue;
    naming = parsed->naming;
    auto& layer = found.layers[parsed->layer];
    auto& slot = parsed->is_bias ? layer.bias : layer.weight;
    check(!slot.defined(), ErrorKind::Input,
          "[msinet.import] {}: '{}' is there twice under different names.", where,
          printable(tensor.name));
    slot = values_of(tensor, parsed->is_bias, order, where);
  }
  if (naming == Naming::Torchvision) fold_torchvision(found);
  if (naming == Naming::KerasVgg) reverse_colours(found);
  found.form = naming == Naming::Torchvision ? "torchvision VGG16"
               : naming == Naming::KerasVgg  ? "Keras VGG16"
                                             : "MSI-Net";
  return found;
}

}  // namespace ubique::msinet
