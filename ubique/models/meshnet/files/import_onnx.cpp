// SPDX-License-Identifier: Apache-2.0
// Sorts the steps of an ONNX graph into layers, and builds config and weights from them.
#include "ubique/models/meshnet/files/import_onnx.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/models/meshnet/files/graph_from_onnx.h"
#include "ubique/models/meshnet/files/import_layers.h"
#include "ubique/models/meshnet/files/import_recipe.h"

namespace ubique::meshnet {
namespace {

/// Collects graph steps into layers: a convolution with its norm and activation.
struct LayerChain {
  ImportedLayers layers;
  std::vector<std::int64_t> dilations;
  Norm norm = Norm::None;
  std::optional<Activation> activation;
  std::string where;

  ImportedLayer& last() {
    check(!layers.layers.empty(), ErrorKind::Input,
          "[meshnet.import] {} begins with something else than a convolution.", where);
    return layers.layers.back();
  }

  void add(const engine::GraphConv& conv) {
    ImportedLayer layer;
    layer.weight = tensor_of(conv.weight);
    if (conv.bias) layer.bias = tensor_of(*conv.bias);
    layers.layers.push_back(std::move(layer));
    dilations.push_back(conv.dilation);
  }

  void add(const engine::GraphBatchNorm& batch) {
    auto& layer = last();
    layer.norm_weight = tensor_of(batch.weight);
    layer.norm_bias = tensor_of(batch.bias);
    layer.running_mean = tensor_of(batch.mean);
    layer.running_var = tensor_of(batch.variance);
    norm = Norm::Batch;
  }

  void add(const engine::GraphInstanceNorm&) {
    last();
    norm = Norm::Instance;
  }

  void add(const engine::GraphActivation& step) {
    if (activation && activation != step.kind) {
      fail(ErrorKind::Input,
           "[meshnet.import] {}: activations differ; got {} and {}, expected one throughout.",
           where, kernels::to_string(*activation), kernels::to_string(step.kind));
    }
    activation = step.kind;
  }

  // Steps on the input or the logits are not part of the network.
  void add(const engine::GraphSoftmax&) {}
  void add(const engine::GraphArgmax&) {}
  void add(const engine::GraphMinMax&) {}
  void add(const engine::GraphResize&) {}

  template <typename Other>
  void add(const Other&) {
    fail(
        ErrorKind::Input,
        "[meshnet.import] {} has an operator that no MeshNet has; expected convolutions, norms and "
        "activations.",
        where);
  }
};

}  // namespace

bool looks_like_meshnet_onnx(const std::filesystem::path& path) {
  try {
    const auto model = io::read_onnx(path);
    return std::any_of(model.constants.begin(), model.constants.end(),
                       [](const io::HostTensor& tensor) { return tensor.shape.size() == 5; });
  } catch (const Error&) {
    return false;  // unreadable: not a MeshNet
  }
}

MeshNetFile import_onnx(const std::filesystem::path& path) {
  const auto where = path.string();
  const auto graph = graph_from_onnx(io::read_onnx(path), where);
  LayerChain chain;
  chain.layers.naming = "ONNX";
  chain.where = where;
  for (const auto& step : graph.steps) {
    std::visit([&](const auto& op) { chain.add(op); }, step.op);
  }
  check(chain.layers.layers.size() >= 2 && chain.activation, ErrorKind::Input,
        "[meshnet.import] {} is not a MeshNet; got {} convolutions {}, expected at least 2 with "
        "activations between them.",
        where, chain.layers.layers.size(), chain.activation ? "" : "and no activation");
  auto config = infer_config(chain.layers, where);
  chain.dilations.pop_back();  // the classifier's
  config.dilations = chain.dilations;
  config.activation = *chain.activation;
  config.norm = chain.norm;
  validate(config, ErrorKind::Input);
  MeshNetFile file{config, arc_state(chain.layers, config), "ONNX file"};
  adopt_metadata(file, graph.notes, where);
  return file;
}

}  // namespace ubique::meshnet
