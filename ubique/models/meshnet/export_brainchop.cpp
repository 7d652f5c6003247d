// SPDX-License-Identifier: Apache-2.0
// A MeshNet as a folder that BrainChop loads: TensorFlow.js layers, weights channels-last, no batch
// norm. Axes stay as the network was trained with them.
#include <ATen/ATen.h>

#include "ubique/base/file.h"
#include "ubique/engine/state_dict.h"
#include "ubique/io/tfjs.h"
#include "ubique/models/meshnet/import_layers.h"

namespace ubique::meshnet {
namespace {

Json layer_json(const std::string& class_name, const std::string& name, Json config,
                const std::string& before) {
  const auto inbound =
      before.empty() ? Json::array()
                     : Json::array({Json::array({Json::array({before, 0, 0, Json::object()})})});
  return {{"class_name", class_name},
          {"config", std::move(config)},
          {"name", name},
          {"inbound_nodes", inbound}};
}

Json input_json(const MeshNetConfig& config) {
  const auto& shape = config.preprocessing.shape;
  return layer_json(
      "InputLayer", "input",
      {{"batch_input_shape", {nullptr, shape[0], shape[1], shape[2], config.in_channels}},
       {"dtype", "float32"},
       {"sparse", false},
       {"ragged", false},
       {"name", "input"}},
      "");
}

struct ConvText {
  std::string name, before;
  std::int64_t filters, kernel, dilation;
  bool bias;
};

Json conv_json(const ConvText& conv) {
  const auto cube = [](std::int64_t value) { return Json::array({value, value, value}); };
  return layer_json("Conv3D", conv.name,
                    {{"name", conv.name},
                     {"trainable", false},
                     {"filters", conv.filters},
                     {"kernel_size", cube(conv.kernel)},
                     {"strides", cube(1)},
                     {"dilation_rate", cube(conv.dilation)},
                     {"padding", "same"},
                     {"data_format", "channels_last"},
                     {"activation", "linear"},
                     {"use_bias", conv.bias},
                     {"dtype", "float32"}},
                    conv.before);
}

Json activation_json(const std::string& name, const std::string& before, Activation activation) {
  return layer_json("Activation", name,
                    {{"name", name},
                     {"trainable", false},
                     {"dtype", "float32"},
                     {"activation", kernels::to_string(activation)}},
                    before);
}

std::string conv_name(std::size_t layer, Norm norm) {
  return fmt::format("conv3d_{}{}", 2 * layer, norm == Norm::Instance ? "_gn" : "");
}

Json layers_json(const MeshNetConfig& config, bool bias) {
  Json layers = Json::array({input_json(config)});
  std::string before = "input";
  for (std::size_t i = 0; i < config.layers(); ++i) {
    const auto conv = conv_name(i, config.norm);
    const auto activation = fmt::format("activation_{}", 2 * i + 1);
    layers.push_back(
        conv_json({conv, before, config.channels, config.kernel, config.dilations[i], bias}));
    layers.push_back(activation_json(activation, conv, config.activation));
    before = activation;
  }
  layers.push_back(conv_json({"output", before, config.classes, 1, 1, true}));
  return layers;
}

Json document_json(const MeshNetConfig& config, bool bias) {
  return {{"format", "layers-model"},
          {"generatedBy", "Ubique"},
          {"convertedBy", "Ubique"},
          {"modelTopology",
           {{"keras_version", "2.7.0"},
            {"backend", "tensorflow"},
            {"model_config",
             {{"class_name", "Functional"},
              {"config",
               {{"name", config.name()},
                {"layers", layers_json(config, bias)},
                {"input_layers", Json::array({Json::array({"input", 0, 0})})},
                {"output_layers", Json::array({Json::array({"output", 0, 0})})}}}}}}},
          {"weightsManifest", Json::array()}};
}

void add_conv(std::vector<io::HostTensor>& tensors, const std::string& layer,
              const at::Tensor& weight, const at::Tensor& bias) {
  tensors.push_back(host_tensor_of(layer + "/kernel", weight.permute({2, 3, 4, 1, 0})));
  if (bias.defined()) tensors.push_back(host_tensor_of(layer + "/bias", bias));
}

Json colormap_json(const std::vector<Label>& labels) {
  Json json = {
      {"R", Json::array()}, {"G", Json::array()}, {"B", Json::array()}, {"labels", Json::array()}};
  for (const auto& label : labels) {
    json["R"].push_back(label.colour[0]);
    json["G"].push_back(label.colour[1]);
    json["B"].push_back(label.colour[2]);
    json["labels"].push_back(label.name);
  }
  return json;
}

}  // namespace

void export_brainchop(const MeshNetFile& file, const std::filesystem::path& folder) {
  const auto folded = fold_batch_norm(file);
  const auto& config = folded.config;
  check(config.activation != Activation::GeluTanh, ErrorKind::Usage,
        "[meshnet.export] BrainChop has no gelu_tanh; its gelu is the exact one, which gives other "
        "numbers. Train with activation gelu, relu or elu.");
  // A bias in front of an instance norm changes nothing, and BrainChop's layers have none there.
  const bool bias = config.bias && config.norm != Norm::Instance;
  const auto find = [&](const std::string& name) {
    return engine::find_tensor(folded.tensors, name);
  };
  std::vector<io::HostTensor> tensors;
  for (std::size_t i = 0; i < config.layers(); ++i) {
    const auto prefix = fmt::format("network.{}.conv.", i);
    add_conv(tensors, conv_name(i, config.norm), find(prefix + "weight"),
             bias ? find(prefix + "bias") : at::Tensor());
  }
  const auto last = fmt::format("network.{}.", config.layers());
  add_conv(tensors, "output", find(last + "weight"), find(last + "bias"));
  io::write_tfjs(folder, document_json(config, bias), tensors);
  if (!config.labels.empty()) {
    write_file(folder / "colormap.json", colormap_json(config.labels).dump(1));
  }
}

}  // namespace ubique::meshnet
