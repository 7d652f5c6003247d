// SPDX-License-Identifier: Apache-2.0
// Reads the layers of model.json, its weights and its metadata.
#include "ubique/models/meshnet/files/import_brainchop.h"

#include <ATen/ATen.h>

#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/io/graphs/tfjs.h"
#include "ubique/io/graphs/tfjs_topology.h"
#include "ubique/models/meshnet/files/import_layers.h"
#include "ubique/models/meshnet/files/import_recipe.h"

namespace ubique::meshnet {
namespace {

constexpr std::string_view kGroupNormSuffix = "_gn";

struct TfjsConv {
  std::string name;
  std::int64_t dilation = 1;
  bool group_norm = false;
};

struct TfjsChain {
  std::vector<TfjsConv> convs;  // the classifier last
  std::optional<Activation> activation;
};

[[noreturn]] void refuse_layer(const std::string& where, const std::string& name,
                               const std::string& what) {
  fail(ErrorKind::Input,
       "[meshnet.import] {}: layer '{}' is {}; expected a chain of Conv3D (stride 1, padding same, "
       "channels last) and Activation layers. Networks that change the size of their volumes are "
       "not supported.",
       where, printable(name), printable(what));
}

std::string text_at(const Json& config, const char* key, const char* fallback) {
  const auto found = config.find(key);
  return found != config.end() && found->is_string() ? found->get<std::string>() : fallback;
}

/// 2 for [2, 2, 2]; 0 if the numbers differ or are missing.
std::int64_t cubic(const Json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end() || !found->is_array() || found->size() != 3) return 0;
  if (!found->front().is_number_integer()) return 0;
  const auto value = found->front().get<std::int64_t>();
  return (*found)[1] == value && (*found)[2] == value ? value : 0;
}

void note_activation(TfjsChain& chain, const std::string& name, const io::TfjsLayer& layer,
                     const std::string& where) {
  if (name == "linear") return;
  if (name != "relu" && name != "elu" && name != "gelu") {
    refuse_layer(where, layer.name, "an activation " + name);
  }
  const auto activation = kernels::parse_activation(name);
  if (chain.activation && chain.activation != activation) {
    fail(ErrorKind::Input,
         "[meshnet.import] {}: activations differ; got {} and {}, expected one throughout.", where,
         kernels::to_string(*chain.activation), name);
  }
  chain.activation = activation;
}

TfjsConv read_conv(const io::TfjsLayer& layer, const std::string& where) {
  const auto& config = layer.config;
  TfjsConv conv{layer.name, cubic(config, "dilation_rate"), layer.name.ends_with(kGroupNormSuffix)};
  if (cubic(config, "strides") != 1) refuse_layer(where, layer.name, "a convolution with strides");
  if (cubic(config, "kernel_size") == 0 || conv.dilation == 0) {
    refuse_layer(where, layer.name, "a convolution that differs between axes");
  }
  if (text_at(config, "padding", "valid") != "same") {
    refuse_layer(where, layer.name, "a convolution without padding");
  }
  if (text_at(config, "data_format", "channels_last") != "channels_last") {
    refuse_layer(where, layer.name, "a convolution with channels first");
  }
  return conv;
}

TfjsChain read_chain(std::span<const io::TfjsLayer> layers, const std::string& where) {
  TfjsChain chain;
  for (const auto& layer : layers) {
    if (layer.class_name == "InputLayer") continue;
    if (layer.inputs.size() != 1) refuse_layer(where, layer.name, "fed by several layers");
    if (layer.class_name == "Activation") {
      note_activation(chain, text_at(layer.config, "activation", "?"), layer, where);
    } else if (layer.class_name == "Conv3D") {
      chain.convs.push_back(read_conv(layer, where));
      note_activation(chain, text_at(layer.config, "activation", "linear"), layer, where);
    } else {
      refuse_layer(where, layer.name, "a " + layer.class_name);
    }
  }
  check(chain.convs.size() >= 2, ErrorKind::Input,
        "[meshnet.import] {} is not a MeshNet; got {} convolutions, expected at least 2.", where,
        chain.convs.size());
  return chain;
}

LayerRecipe recipe_of(const TfjsChain& chain) {
  LayerRecipe recipe{{}, chain.activation, 0};
  for (const auto& conv : chain.convs) recipe.dilations.push_back(conv.dilation);
  recipe.dilations.pop_back();
  return recipe;
}

ImportedLayers layers_of(const io::TfjsModel& model, const TfjsChain& chain,
                         const std::string& where) {
  ImportedLayers result;
  result.naming = "BrainChop";
  for (const auto& conv : chain.convs) {
    const auto* kernel = model.find(conv.name + "/kernel");
    const auto* bias = model.find(conv.name + "/bias");
    check(kernel != nullptr && kernel->shape.size() == 5, ErrorKind::Input,
          "[meshnet.import] {}: layer '{}' has no kernel of five dimensions.", where,
          printable(conv.name));
    ImportedLayer layer;
    layer.weight = tensor_of(*kernel).permute({4, 3, 0, 1, 2}).contiguous();  // (O, I, k, k, k)
    if (bias != nullptr) layer.bias = tensor_of(*bias);
    result.layers.push_back(std::move(layer));
  }
  return result;
}

std::array<std::int64_t, 3> input_shape(std::span<const io::TfjsLayer> layers) {
  std::array<std::int64_t, 3> shape{256, 256, 256};
  if (layers.empty()) return shape;
  const auto found = layers.front().config.find("batch_input_shape");
  if (found == layers.front().config.end() || !found->is_array() || found->size() != 5)
    return shape;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& extent = (*found)[i + 1];
    if (extent.is_number_integer()) shape[i] = extent.get<std::int64_t>();
  }
  return shape;
}

bool mentions_quantiles(const Json& document) {
  const auto found = document.find("_comment");
  return found != document.end() && found->is_string() &&
         lowercase(found->get<std::string>()).find("quantile") != std::string::npos;
}

/// TensorFlow.js's field for metadata of the exporter.
std::map<std::string, std::string> metadata_of(const Json& document) {
  std::map<std::string, std::string> metadata;
  const auto found = document.find("userDefinedMetadata");
  if (found == document.end() || !found->is_object()) return metadata;
  for (const auto& [key, value] : found->items()) {
    if (value.is_string()) metadata[key] = value.get<std::string>();
  }
  return metadata;
}

}  // namespace

LayerRecipe tfjs_recipe(const Json& document, const std::string& where) {
  return recipe_of(read_chain(io::tfjs_layers(document, where), where));
}

MeshNetFile import_brainchop(const std::filesystem::path& path) {
  const auto where = path.string();
  const auto model = io::read_tfjs(path);
  const auto chain = read_chain(model.layers, where);
  const auto layers = layers_of(model, chain, where);
  auto config = infer_config(layers, where);
  const auto recipe = recipe_of(chain);
  config.dilations = recipe.dilations;
  check(recipe.activation.has_value(), ErrorKind::Input,
        "[meshnet.import] {} has no activations; expected relu, elu or gelu.", where);
  config.activation = *recipe.activation;
  if (!chain.convs.front().group_norm && config.norm == Norm::Instance) {
    config.norm = Norm::None;  // neither biases nor group norms
  } else if (chain.convs.front().group_norm) {
    config.norm = Norm::Instance;
  }
  config.preprocessing = brainchop_preprocessing(config);
  if (mentions_quantiles(model.document)) config.preprocessing.normalization = "quantile";
  config.preprocessing.shape = input_shape(model.layers);
  const auto folder = std::filesystem::is_directory(path) ? path : path.parent_path();
  config.labels = read_colormap(folder, config.classes);
  validate(config, ErrorKind::Input);
  MeshNetFile file{config, arc_state(layers, config), "BrainChop folder"};
  adopt_metadata(file, metadata_of(model.document), where);
  return file;
}

}  // namespace ubique::meshnet
