// SPDX-License-Identifier: Apache-2.0
#include "ubique/export/tfjs.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/engine/tensor_bytes.h"
#include "ubique/export/quantise.h"

namespace ubique::exporting {
namespace {

using io::HostTensor;

/// Keras counts layers and names them by kind; what comes out last is called "output".
class TfjsLowering {
 public:
  TfjsLowering(const engine::Graph& graph, DType dtype) : graph_(graph), dtype_(dtype) {}

  TfjsLayersModel run() {
    add_input();
    for (std::size_t i = 0; i < graph_.steps.size(); ++i) {
      const auto* norm = i + 1 < graph_.steps.size()
                             ? std::get_if<engine::GraphInstanceNorm>(&graph_.steps[i + 1].op)
                             : nullptr;
      normalised_ = norm != nullptr;
      last_ = i + 1 == graph_.steps.size();
      std::visit([&](const auto& op) { lower(op); }, graph_.steps[i].op);
    }
    model_.document = document();
    return std::move(model_);
  }

 private:
  void add_layer(const std::string& kind, const std::string& name, Json config) {
    const auto inbound =
        before_.empty()
            ? Json::array()
            : Json::array({Json::array({Json::array({before_, 0, 0, Json::object()})})});
    layers_.push_back({{"class_name", kind},
                       {"config", std::move(config)},
                       {"name", name},
                       {"inbound_nodes", inbound}});
    before_ = name;
  }

  void add_input() {
    Json shape = Json::array({nullptr});
    for (const auto extent : graph_.usual_extents) shape.push_back(extent);
    shape.push_back(std::get<std::int64_t>(graph_.input_shape.at(1)));
    add_layer("InputLayer", "input",
              {{"batch_input_shape", shape},
               {"dtype", "float32"},
               {"sparse", false},
               {"ragged", false},
               {"name", "input"}});
  }

  std::string next_name(const std::string& kind) {
    return last_ ? "output" : fmt::format("{}_{}", kind, count_++);
  }

  void lower(const engine::GraphConv& conv) {
    const auto dims = conv.weight.shape.size() - 2;
    const auto name = next_name(fmt::format("conv{}d", dims)) + (normalised_ ? "_gn" : "");
    // A bias in front of an instance norm changes nothing, and BrainChop's layers have none there.
    const bool bias = conv.bias && !normalised_;
    const auto all = [&](std::int64_t value) { return std::vector<std::int64_t>(dims, value); };
    add_layer(fmt::format("Conv{}D", dims), name,
              {{"name", name},
               {"trainable", false},
               {"filters", conv.weight.shape[0]},
               {"kernel_size", all(conv.weight.shape[2])},
               {"strides", all(1)},
               {"dilation_rate", all(conv.dilation)},
               {"padding", "same"},
               {"data_format", "channels_last"},
               {"activation", "linear"},
               {"use_bias", bias},
               {"dtype", "float32"}});
    add_weight(name + "/kernel", conv.weight);
    if (bias) add_weight(name + "/bias", *conv.bias);
  }

  void lower(const engine::GraphActivation& activation) {
    check(activation.kind != kernels::Activation::GeluTanh, ErrorKind::Usage,
          "[export.tfjs] BrainChop has no gelu_tanh; its gelu is the exact one, which gives other "
          "numbers. Train with activation gelu, relu or elu.");
    add_activation(std::string(kernels::to_string(activation.kind)));
  }

  void lower(const engine::GraphSoftmax&) { add_activation("softmax"); }
  void lower(const engine::GraphInstanceNorm&) {}  // is in the name of the layer before it

  void lower(const engine::GraphBatchNorm&) { refuse("batch norms; fold them (no --no-fold)"); }
  void lower(const engine::GraphArgmax&) { refuse("labels come out; choose --head logits"); }
  void lower(const engine::GraphMinMax&) { refuse("intensities; leave out --min-max"); }
  void lower(const engine::GraphResize&) { refuse("resizing; leave out --resize"); }
  void lower(const engine::GraphUpsample&) { refuse("maps at twice the size"); }
  void lower(const engine::GraphMaxPool&) { refuse("maxima of windows"); }
  void lower(const engine::GraphSubtract&) { refuse("means that are taken away"); }
  void lower(const engine::GraphConcat&) { refuse("branches that are put together"); }
  void lower(const engine::GraphGlobalMean&) { refuse("means over pictures"); }
  void lower(const engine::GraphSpread&) { refuse("branches that are put together"); }

  [[noreturn]] static void refuse(const std::string& what) {
    fail(ErrorKind::Usage,
         "[export.tfjs] a layers model holds convolutions and activations; got {}. --format onnx "
         "has all of it.",
         what);
  }

  void add_activation(const std::string& kind) {
    const auto name = next_name("activation");
    add_layer("Activation", name,
              {{"name", name}, {"trainable", false}, {"dtype", "float32"}, {"activation", kind}});
  }

  /// Rounded first: which taps belong to one kernel is plain only in our own order.
  void add_weight(const std::string& name, const HostTensor& tensor) {
    io::TfjsWeight weight;
    if (dtype_ == DType::U8) {
      auto small = quantise_whole(tensor);
      weight = {std::move(small.values), io::TfjsScale{small.scale, small.min}};
    } else {
      weight.tensor = dtype_ == DType::F16 ? to_half(tensor) : tensor;
    }
    weight.tensor = channels_last(weight.tensor, name);
    model_.weights.push_back(std::move(weight));
  }

  /// (O, I, k...) to (k..., I, O); a bias stays as it is.
  static HostTensor channels_last(const HostTensor& weight, const std::string& name) {
    auto tensor = engine::torch_tensor(weight);
    if (tensor.dim() > 1) {
      std::vector<std::int64_t> order;
      for (std::int64_t i = 2; i < tensor.dim(); ++i) order.push_back(i);
      order.insert(order.end(), {1, 0});
      tensor = tensor.permute(order).contiguous();
    }
    const auto bytes = engine::bytes_of(tensor);
    return {name, weight.dtype, tensor.sizes().vec(), {bytes.begin(), bytes.end()}};
  }

  Json document() const {
    Json document = {{"format", "layers-model"},
                     {"generatedBy", "Ubique"},
                     {"convertedBy", "Ubique"},
                     {"modelTopology",
                      {{"keras_version", "2.7.0"},
                       {"backend", "tensorflow"},
                       {"model_config",
                        {{"class_name", "Functional"},
                         {"config",
                          {{"name", graph_.name},
                           {"layers", layers_},
                           {"input_layers", Json::array({Json::array({"input", 0, 0})})},
                           {"output_layers", Json::array({Json::array({before_, 0, 0})})}}}}}}},
                     {"weightsManifest", Json::array()}};
    for (const auto& [key, value] : graph_.notes) document["userDefinedMetadata"][key] = value;
    return document;
  }

  const engine::Graph& graph_;
  DType dtype_;
  TfjsLayersModel model_;
  Json layers_ = Json::array();
  std::string before_;
  int count_ = 0;
  bool normalised_ = false, last_ = false;
};

}  // namespace

TfjsLayersModel to_tfjs(const engine::Graph& graph, DType dtype) {
  return TfjsLowering(graph, dtype).run();
}

}  // namespace ubique::exporting
