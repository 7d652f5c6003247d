// SPDX-License-Identifier: Apache-2.0
// Assembles layers into a network. Widths come from the weights; strides and dilations from the
// configuration in the file, else from the known network with the same layers.
#include <ATen/ATen.h>

#include <algorithm>
#include <array>

#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"
#include "ubique/models/msinet/files/import_layers.h"
#include "ubique/models/msinet/files/named_weights.h"

namespace ubique::msinet {
namespace {

const FoundLayer* find_layer(const FoundLayers& found, const std::string& name) {
  const auto layer = found.layers.find(name);
  return layer == found.layers.end() ? nullptr : &layer->second;
}

bool is_encoder(const LayerSpec& layer) {
  return layer.group != "aspp" && layer.group != "decoder";
}

std::string dims_text(const at::Tensor& tensor) {
  if (!tensor.defined()) return "nothing";
  return io::shape_text({tensor.sizes().begin(), tensor.sizes().end()});
}

/// Does the file hold exactly the layers of `config` (or of its encoder), whatever their widths?
bool has_layers_of(const FoundLayers& found, const MsiNetConfig& config, bool encoder_only) {
  std::size_t count = 0;
  for (const auto& layer : layers_of(config)) {
    if (encoder_only && !is_encoder(layer)) continue;
    if (find_layer(found, layer.scope("_")) == nullptr) return false;
    ++count;
  }
  return count == found.layers.size();
}

std::array<MsiNetConfig, 2> known_networks() { return {preset("msinet"), preset("msinet-small")}; }

void read_widths(MsiNetConfig& config, const FoundLayers& found, const std::string& where) {
  const auto width_of = [&](const std::string& name, std::int64_t otherwise) {
    const auto* layer = find_layer(found, name);
    if (layer == nullptr) return otherwise;  // an encoder-only file
    check(layer->weight.defined(), ErrorKind::Input,
          "[msinet.import] {}: layer '{}' has a bias and no kernel.", where, name);
    return layer->weight.size(0);
  };
  for (std::size_t s = 0; s < config.encoder.size(); ++s) {
    auto& widths = config.encoder[s].widths;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = width_of(fmt::format("conv{}_conv{}_{}", s + 1, s + 1, i + 1), widths[i]);
    }
  }
  config.aspp_width = width_of("aspp_conv2", config.aspp_width);
  for (std::size_t i = 0; i < config.decoder.size(); ++i) {
    config.decoder[i] = width_of(fmt::format("decoder_conv{}", i + 1), config.decoder[i]);
  }
}

[[noreturn]] void refuse_layers(const FoundLayers& found, const std::string& where) {
  std::vector<std::string> shown;
  for (const auto& [name, layer] : found.layers) {
    if (shown.size() < 4) shown.push_back(fmt::format("{} {}", name, dims_text(layer.weight)));
  }
  const auto published = layers_of(MsiNetConfig());
  const auto missing = std::find_if(
      published.begin(), published.end(),
      [&](const LayerSpec& layer) { return find_layer(found, layer.scope("_")) == nullptr; });
  fail(ErrorKind::Input,
       "[msinet.import] {} is not a known MSI-Net; got {} layers ({}, ...), expected the "
       "23 of the published network{}, the 17 of the small one, or a VGG16's 13.",
       where, found.layers.size(), join(shown, ", "),
       missing == published.end() ? " alone" : " (" + missing->scope("/") + " is missing)");
}

MsiNetConfig infer_config(const FoundLayers& found, bool& encoder_only, const std::string& where) {
  for (const bool alone : {false, true}) {
    for (auto config : known_networks()) {
      if (!has_layers_of(found, config, alone)) continue;
      encoder_only = alone;
      read_widths(config, found, where);
      config.upsample = found.upsample;
      config.preprocessing = found.preprocessing;
      return config;
    }
  }
  refuse_layers(found, where);
}

void check_shape(const at::Tensor& got, const io::Shape& expected, const std::string& name,
                 const std::string& where) {
  const bool fits = got.defined() && got.sizes() == at::IntArrayRef(expected);
  check(fits, ErrorKind::Input,
        "[msinet.import] {}: '{}' does not fit the others; got {}, expected {}.", where, name,
        dims_text(got), io::shape_text(expected));
}

/// Data set and device from the file's name, where the file itself does not say.
void read_file_name(MsiNetConfig& config, const std::filesystem::path& path) {
  const auto named = read_weight_file_name(path);
  if (!named) return;
  if (config.dataset.empty()) {
    config.dataset = named->dataset;
    config.size = dataset_size(named->dataset).value_or(config.size);
  }
  if (config.device.empty()) config.device = named->device;
}

}  // namespace

MsiNetFile assemble(FoundLayers found, const std::filesystem::path& path) {
  const auto where = path.string();
  MsiNetFile file;
  file.form = found.form;
  file.config = found.config ? msinet::from_json(*found.config, where)
                             : infer_config(found, file.encoder_only, where);
  for (const auto& layer : layers_of(file.config)) {
    if (file.encoder_only && !is_encoder(layer)) continue;
    const auto* own = find_layer(found, layer.scope("_"));
    const auto name = layer.scope(".");
    check_shape(own != nullptr ? own->weight : at::Tensor(),
                {layer.out, layer.in, layer.kernel, layer.kernel}, name + ".weight", where);
    check_shape(own->bias, {layer.out}, name + ".bias", where);
    file.tensors.emplace_back(name + ".weight", own->weight);
    file.tensors.emplace_back(name + ".bias", own->bias);
    found.layers.erase(layer.scope("_"));
  }
  check(found.layers.empty(), ErrorKind::Input,
        "[msinet.import] {} has layers that its configuration does not list, among them '{}'.",
        where, found.layers.empty() ? "" : found.layers.begin()->first);
  if (!found.config) read_file_name(file.config, path);
  validate(file.config, ErrorKind::Input);
  return file;
}

std::vector<std::string> names_in_keras_order(std::size_t count) {
  for (const auto& config : known_networks()) {
    auto layers = layers_of(config);
    if (layers.size() != count) continue;
    const auto is_first = [](const LayerSpec& layer) { return layer.group == "aspp"; };
    const auto first = std::find_if(layers.begin(), layers.end(), is_first);
    const auto global = first + static_cast<std::ptrdiff_t>(config.aspp_dilations.size()) + 1;
    std::rotate(first, global, global + 1);
    std::vector<std::string> names;
    for (const auto& layer : layers) names.push_back(layer.scope("_"));
    return names;
  }
  return {};
}

}  // namespace ubique::msinet
