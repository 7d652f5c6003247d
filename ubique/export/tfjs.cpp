// SPDX-License-Identifier: Apache-2.0
// The Keras layers and weights of each step of a graph.
#include "ubique/export/tfjs.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <span>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/export/quantise.h"

namespace ubique::exporting {
namespace {

using io::HostTensor;

/// Names layers like Keras, by kind and count; the last one is called "output".
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
      inputs_.clear();
      for (const auto& input : graph_.steps[i].inputs) inputs_.push_back(made_by_.at(input));
      std::visit([&](const auto& op) { lower(op); }, graph_.steps[i].op);
      made_by_[graph_.steps[i].name] = before_;
    }
    model_.document = document();
    return std::move(model_);
  }

 private:
  void add_layer(const std::string& kind, const std::string& name, Json config,
                 const std::vector<std::string>& inputs) {
    auto inbound = Json::array();
    for (const auto& input : inputs) {
      inbound.push_back(Json::array({input, 0, 0, Json::object()}));
    }
    layers_.push_back({{"class_name", kind},
                       {"config", std::move(config)},
                       {"name", name},
                       {"inbound_nodes", inputs.empty() ? inbound : Json::array({inbound})}});
    before_ = name;
  }

  /// A layer without weights, named like Keras.
  std::string add_plain(const std::string& kind, const std::string& name, Json config,
                        const std::vector<std::string>& inputs) {
    config["name"] = next_name(name);
    config["trainable"] = false;
    config["dtype"] = "float32";
    const auto own = config["name"].get<std::string>();
    add_layer(kind, own, std::move(config), inputs);
    return own;
  }

  void add_input() {
    Json shape = Json::array({nullptr});
    for (std::size_t i = 0; i < graph_.usual_extents.size(); ++i) {
      // Images may have any size; volumes have the size that BrainChop conforms scans to.
      const bool open =
          is_image() && std::holds_alternative<std::string>(graph_.input_shape.at(2 + i));
      shape.push_back(open ? Json() : Json(graph_.usual_extents[i]));
    }
    shape.push_back(std::get<std::int64_t>(graph_.input_shape.at(1)));
    add_layer("InputLayer", "input",
              {{"batch_input_shape", shape},
               {"dtype", "float32"},
               {"sparse", false},
               {"ragged", false},
               {"name", "input"}},
              {});
    made_by_[graph_.input] = before_;
  }

  bool is_image() const { return graph_.input_shape.size() == 4; }

  std::string next_name(const std::string& kind) {
    return last_ ? "output" : fmt::format("{}_{}", kind, count_++);
  }

  void lower(const engine::GraphConv& conv) {
    const auto dims = conv.weight.shape.size() - 2;
    const auto name = next_name(fmt::format("conv{}d", dims)) + (normalised_ ? "_gn" : "");
    // A bias before an instance norm has no effect, and BrainChop's layers have none there.
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
               {"dtype", "float32"}},
              inputs_);
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
  void lower(const engine::GraphInstanceNorm&) {}  // in the name of the preceding layer

  void lower(const engine::GraphBatchNorm&) { refuse("batch norms; fold them (no --no-fold)"); }
  void lower(const engine::GraphArgmax&) { refuse("labels come out; choose --head logits"); }
  void lower(const engine::GraphMinMax&) {
    refuse("values brought to 0..1; leave out --min-max, or --head raw");
  }
  void lower(const engine::GraphResize&) { refuse("resizing; leave out --resize"); }
  template <typename Other>
  void lower(const Other&) {
    refuse("operators of language models");
  }

  /// Nearest-neighbour doubling, then average pooling: bilinear UpSampling2D differs between
  /// TensorFlow.js and Keras. Average pooling ignores padding, which repeats the edge.
  void lower(const engine::GraphUpsample& op) {
    require_image();
    const auto ends = std::exchange(last_, false);
    auto x = add_plain(
        "UpSampling2D", "up_sampling2d",
        {{"size", {2, 2}}, {"data_format", "channels_last"}, {"interpolation", "nearest"}},
        inputs_);
    if (op.mode == engine::GraphUpsample::Mode::Asymmetric) {
      last_ = ends;
      add_pool("Average", {x}, {2, 2}, 1, "same");
      return;
    }
    // (1, 2, 1)/4 along each axis: the average of three 3-tap means and the centre.
    for (const bool rows : {false, true}) {
      const auto mean = add_pool("Average", {x}, rows ? Pair{3, 1} : Pair{1, 3}, 1, "same");
      last_ = ends && rows;
      x = add_plain("Average", "average", Json::object(), {mean, mean, mean, x});
    }
  }

  void lower(const engine::GraphMaxPool& op) {
    require_image();
    add_pool("Max", inputs_, {op.window, op.window}, op.stride, op.after > 0 ? "same" : "valid");
  }

  using Pair = std::array<std::int64_t, 2>;

  std::string add_pool(const std::string& kind, const std::vector<std::string>& inputs, Pair window,
                       std::int64_t stride, const std::string& padding) {
    return add_plain(kind + "Pooling2D", kind == "Max" ? "max_pooling2d" : "average_pooling2d",
                     {{"pool_size", window},
                      {"strides", {stride, stride}},
                      {"padding", padding},
                      {"data_format", "channels_last"}},
                     inputs);
  }

  /// A 1x1 convolution with an identity kernel and a bias, so that zero padding of later layers
  /// applies after the subtraction.
  void lower(const engine::GraphSubtract& op) {
    require_image();
    const auto count = op.values.size();
    std::vector<float> kernel(count * count, 0), bias;
    for (std::size_t i = 0; i < count; ++i) kernel[i * (count + 1)] = 1;
    for (const auto value : op.values) bias.push_back(static_cast<float>(-value));
    add_fixed_conv(inputs_, static_cast<std::int64_t>(count), kernel, bias);
  }

  /// Always in f32.
  std::string add_fixed_conv(const std::vector<std::string>& inputs, std::int64_t filters,
                             const std::vector<float>& kernel, const std::vector<float>& bias) {
    const auto name = add_plain("Conv2D", "conv2d",
                                {{"filters", filters},
                                 {"kernel_size", {1, 1}},
                                 {"strides", {1, 1}},
                                 {"dilation_rate", {1, 1}},
                                 {"padding", "same"},
                                 {"data_format", "channels_last"},
                                 {"activation", "linear"},
                                 {"use_bias", !bias.empty()}},
                                inputs);
    const auto rows = static_cast<std::int64_t>(kernel.size()) / filters;
    add_f32(name + "/kernel", {1, 1, rows, filters}, kernel);  // (1, 1, I, O)
    if (!bias.empty()) add_f32(name + "/bias", {filters}, bias);
    return name;
  }

  void add_f32(const std::string& name, const io::Shape& shape, const std::vector<float>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    model_.weights.push_back({{name, DType::F32, shape, {bytes.begin(), bytes.end()}}});
  }

  void lower(const engine::GraphConcat&) {
    add_plain("Concatenate", "concatenate", {{"axis", -1}}, inputs_);
  }

  /// TensorFlow.js drops the two spatial axes; the reshape restores them.
  void lower(const engine::GraphGlobalMean&) {
    require_image();
    const auto ends = std::exchange(last_, false);
    const auto mean = add_plain("GlobalAveragePooling2D", "global_average_pooling2d",
                                {{"data_format", "channels_last"}}, inputs_);
    last_ = ends;
    add_plain("Reshape", "reshape", {{"target_shape", {1, 1, channels_of(inputs_[0])}}}, {mean});
  }

  /// Adds the value to zeros of the target size: Add broadcasts extents of 1.
  void lower(const engine::GraphSpread&) {
    require_image();
    const auto ends = std::exchange(last_, false);
    const std::vector<float> zeros(static_cast<std::size_t>(channels_of(inputs_.at(1))), 0);
    const auto zero = add_fixed_conv({inputs_[1]}, 1, zeros, {});
    last_ = ends;
    add_plain("Add", "add", Json::object(), {zero, inputs_[0]});
  }

  void require_image() const {
    if (!is_image()) refuse("steps that only pictures have");
  }

  /// Output channels of a layer: convolutions set them, concatenation adds them up.
  std::int64_t channels_of(const std::string& layer) const {
    for (const auto& json : layers_) {
      if (json["name"] != layer) continue;
      const auto& config = json["config"];
      if (config.contains("filters")) return config["filters"].get<std::int64_t>();
      if (config.contains("batch_input_shape")) {
        return config["batch_input_shape"].back().get<std::int64_t>();
      }
      const auto& inputs = json["inbound_nodes"][0];
      const bool sums = json["class_name"] == "Concatenate";
      std::int64_t channels = 0;
      for (std::size_t i = 0; i < (sums ? inputs.size() : 1); ++i) {
        channels += channels_of(inputs[i][0].get<std::string>());
      }
      return channels;
    }
    fail(ErrorKind::Internal, "[export.tfjs] no layer '{}'.", layer);
  }

  [[noreturn]] static void refuse(const std::string& what) {
    fail(ErrorKind::Usage,
         "[export.tfjs] a layers model cannot hold everything; got {}. --format onnx has all of "
         "it.",
         what);
  }

  void add_activation(const std::string& kind) {
    add_plain("Activation", "activation", {{"activation", kind}}, inputs_);
  }

  /// Rounded before the permutation: rounding needs the taps of a kernel side by side.
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
  std::map<std::string, std::string> made_by_;  // the layer of each step
  std::vector<std::string> inputs_;             // input layers of the current step
  std::string before_;                          // the layer added last
  int count_ = 0;
  bool normalised_ = false, last_ = false;
};

}  // namespace

TfjsLayersModel to_tfjs(const engine::Graph& graph, DType dtype) {
  return TfjsLowering(graph, dtype).run();
}

}  // namespace ubique::exporting
