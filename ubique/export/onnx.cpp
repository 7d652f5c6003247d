// SPDX-License-Identifier: Apache-2.0
// The ONNX nodes of each step of a graph, with f16 and int8 variants.
#include "ubique/export/onnx.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <span>

#include "ubique/base/error.h"
#include "ubique/export/quantise.h"

namespace ubique::exporting {
namespace {

using engine::GraphStep;
using io::HostTensor;
using io::OnnxNode;

HostTensor f32_tensor(std::string name, io::Shape shape, const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {std::move(name), DType::F32, std::move(shape), {bytes.begin(), bytes.end()}};
}

/// Adds the nodes of the steps in order.
class OnnxLowering {
 public:
  OnnxLowering(const engine::Graph& graph, const OnnxOptions& options)
      : graph_(graph), half_(options.dtype == DType::F16), options_(options) {}

  io::OnnxModel run() {
    const auto outer = half_ && options_.half_io ? DType::F16 : DType::F32;
    model_.name = graph_.name;
    model_.producer = "ubique";
    model_.metadata = graph_.notes;
    model_.inputs = {{"input", outer, extents(graph_.input_shape)}};
    names_[graph_.input] = "input";
    if (outer == DType::F16) halves_.insert("input");
    for (const auto& step : graph_.steps) {
      step_ = &step;
      inputs_.clear();
      for (const auto& input : step.inputs) inputs_.push_back(names_.at(input));
      names_[step.name] = step.name;
      choose_precision();
      input_ = inputs_.at(0);
      std::visit([&](const auto& op) { lower(op); }, step.op);
    }
    finish(outer);
    return std::move(model_);
  }

 private:
  /// Steps that normalise or shift the value range are computed in f32 unless the input itself is
  /// f16: raw intensities may exceed f16's range, and maps scaled to 0..1 need its precision.
  void choose_precision() {
    if (!half_) return;
    const bool ranges = std::holds_alternative<engine::GraphMinMax>(step_->op) ||
                        std::holds_alternative<engine::GraphResize>(step_->op) ||
                        std::holds_alternative<engine::GraphSubtract>(step_->op);
    in_half_ = !ranges || (options_.half_io && inputs_[0] == "input");
    for (auto& input : inputs_) input = in_precision(input);
    if (in_half_) halves_.insert(step_->name);
  }

  /// The value in the step's precision; it is cast only once, however many steps use it.
  std::string in_precision(const std::string& value) {
    if (halves_.contains(value) == in_half_) return value;
    const auto name = value + (in_half_ ? ".half" : ".whole");
    if (!cast_.insert(name).second) return name;
    if (in_half_) halves_.insert(name);
    return add("Cast", {value}, name, {{"to", std::int64_t{in_half_ ? 10 : 1}}});
  }

  static std::vector<io::OnnxExtent> extents(const std::vector<engine::GraphExtent>& shape) {
    return {shape.begin(), shape.end()};
  }

  bool gives_labels() const {
    return std::holds_alternative<engine::GraphArgmax>(graph_.steps.back().op);
  }

  void finish(DType outer) {
    const auto& last = graph_.steps.back().name;
    if (!gives_labels() && halves_.contains(last) != (outer == DType::F16)) {
      add("Cast", {last}, "output", {{"to", std::int64_t{outer == DType::F16 ? 10 : 1}}});
    } else {
      add("Identity", {last}, "output");
    }
    auto shape = extents(graph_.input_shape);
    if (resized_) std::copy(resized_->begin(), resized_->end(), shape.begin() + 2);
    if (gives_labels()) {
      shape.erase(shape.begin() + 1);
    } else {
      shape[1] = channels_;
    }
    model_.outputs = {{"output", gives_labels() ? DType::I64 : outer, shape}};
  }

  std::string add(const std::string& op, std::vector<std::string> inputs, const std::string& output,
                  std::map<std::string, io::OnnxAttribute> attributes = {}) {
    model_.nodes.push_back({op, output, std::move(inputs), {output}, std::move(attributes)});
    return output;
  }

  std::string constant(HostTensor tensor, const std::string& name) {
    tensor.name = name;
    model_.constants.push_back(in_half_ ? to_half(tensor) : std::move(tensor));
    return name;
  }

  std::string number(float value, const std::string& name) {
    return constant(f32_tensor("", {}, {value}), name);
  }

  std::string own(const char* part) const { return step_->name + "." + part; }

  void lower(const engine::GraphConv& conv) {
    const auto dims = conv.weight.shape.size() - 2;
    channels_ = conv.weight.shape[0];
    std::vector<std::int64_t> kernel(conv.weight.shape.begin() + 2, conv.weight.shape.end()), pads;
    for (int side = 0; side < 2; ++side) {
      for (const auto extent : kernel) pads.push_back(conv.dilation * (extent / 2));
    }
    std::vector<std::string> inputs = {input_, weight(conv)};
    if (conv.bias) inputs.push_back(constant(*conv.bias, own("bias")));
    add("Conv", inputs, step_->name,
        {{"dilations", std::vector<std::int64_t>(dims, conv.dilation)},
         {"kernel_shape", kernel},
         {"pads", pads},
         {"strides", std::vector<std::int64_t>(dims, 1)}});
  }

  std::string weight(const engine::GraphConv& conv) {
    if (options_.dtype != DType::I8) return constant(conv.weight, own("weight"));
    auto quantised = quantise_rows(conv.weight);
    quantised.values.name = own("weight_i8");
    quantised.scales.name = own("weight_scale");
    HostTensor zeros{own("weight_zero"), DType::I8, quantised.scales.shape,
                     std::vector<std::byte>(static_cast<std::size_t>(channels_))};
    const std::vector<std::string> inputs = {quantised.values.name, quantised.scales.name,
                                             zeros.name};
    for (auto* tensor : {&quantised.values, &quantised.scales, &zeros}) {
      model_.constants.push_back(std::move(*tensor));
    }
    return add("DequantizeLinear", inputs, own("weight"), {{"axis", std::int64_t{0}}});
  }

  void lower(const engine::GraphBatchNorm& norm) {
    add("BatchNormalization",
        {input_, constant(norm.weight, own("weight")), constant(norm.bias, own("bias")),
         constant(norm.mean, own("running_mean")), constant(norm.variance, own("running_var"))},
        step_->name, {{"epsilon", static_cast<float>(norm.epsilon)}});
  }

  void lower(const engine::GraphInstanceNorm& norm) {
    const auto count = static_cast<std::size_t>(norm.channels);
    const auto ones = f32_tensor("", {norm.channels}, std::vector<float>(count, 1));
    const auto zeros = f32_tensor("", {norm.channels}, std::vector<float>(count, 0));
    add("InstanceNormalization",
        {input_, constant(ones, own("weight")), constant(zeros, own("bias"))}, step_->name,
        {{"epsilon", static_cast<float>(norm.epsilon)}});
  }

  void lower(const engine::GraphActivation& activation) {
    using kernels::Activation;
    switch (activation.kind) {
      case Activation::None:
        add("Identity", {input_}, step_->name);
        return;
      case Activation::Relu:
        add("Relu", {input_}, step_->name);
        return;
      case Activation::Elu:
        add("Elu", {input_}, step_->name, {{"alpha", 1.0F}});
        return;
      case Activation::Gelu:
        return lower_gelu();
      case Activation::GeluTanh:
        return lower_gelu_tanh();
    }
  }

  /// x/2 · (1 + erf(x/√2)): ONNX has a Gelu operator only since opset 20.
  void lower_gelu() {
    const auto scaled = add(
        "Mul", {input_, number(static_cast<float>(std::sqrt(0.5)), own("root"))}, own("scaled"));
    finish_gelu(add("Erf", {scaled}, own("erf")));
  }

  /// x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))
  void lower_gelu_tanh() {
    const auto square = add("Mul", {input_, input_}, own("square"));
    const auto cube = add("Mul", {square, input_}, own("cube"));
    const auto part = add("Mul", {cube, number(0.044715F, own("share"))}, own("part"));
    const auto sum = add("Add", {input_, part}, own("sum"));
    const auto scaled = add("Mul", {sum, number(0.7978845608F, own("root"))}, own("scaled"));
    finish_gelu(add("Tanh", {scaled}, own("tanh")));
  }

  void finish_gelu(const std::string& curve) {
    const auto shifted = add("Add", {curve, number(1, own("one"))}, own("shifted"));
    const auto half = add("Mul", {input_, number(0.5F, own("half"))}, own("halved"));
    add("Mul", {half, shifted}, step_->name);
  }

  void lower(const engine::GraphSoftmax&) {
    add("Softmax", {input_}, step_->name, {{"axis", std::int64_t{1}}});
  }

  void lower(const engine::GraphArgmax&) {
    add("ArgMax", {input_}, step_->name,
        {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  }

  std::string integers(const std::vector<std::int64_t>& values, const std::string& name) {
    const auto bytes = std::as_bytes(std::span(values));
    model_.constants.push_back({name,
                                DType::I64,
                                {static_cast<std::int64_t>(values.size())},
                                {bytes.begin(), bytes.end()}});
    return name;
  }

  /// Batch and channels stay the same.
  void lower(const engine::GraphResize& resize) {
    const auto shape = add("Shape", {input_}, own("shape"));
    const auto kept =
        add("Slice", {shape, integers({0}, own("from")), integers({2}, own("to"))}, own("kept"));
    const auto sizes = add("Concat", {kept, integers(resize.extents, own("extents"))}, own("sizes"),
                           {{"axis", std::int64_t{0}}});
    add("Resize", {input_, "", "", sizes}, step_->name,
        {{"mode", std::string("linear")},
         {"coordinate_transformation_mode", std::string("align_corners")}});
    auto& extents = resized_.emplace();
    for (const auto extent : resize.extents) extents.emplace_back(extent);
  }

  std::size_t spatial_dims() const { return graph_.input_shape.size() - 2; }

  /// (x - min) / (max - min); a range of 0 counts as 1.
  void lower(const engine::GraphMinMax& op) {
    std::vector<std::int64_t> axes;
    for (std::size_t i = 1; i < graph_.input_shape.size(); ++i) {
      axes.push_back(static_cast<std::int64_t>(i));
    }
    const std::map<std::string, io::OnnxAttribute> over = {{"axes", axes},
                                                           {"keepdims", std::int64_t{1}}};
    const auto low = add("ReduceMin", {input_}, own("low"), over);
    const auto high = add("ReduceMax", {input_}, own("high"), over);
    auto range = add("Sub", {high, low}, own("range"));
    if (op.epsilon > 0) {
      const auto epsilon = number(static_cast<float>(op.epsilon), own("epsilon"));
      range = add("Add", {range, epsilon}, own("safe"));
    } else {
      const auto flat = add("Equal", {range, number(0, own("zero"))}, own("flat"));
      range = add("Where", {flat, number(1, own("one")), range}, own("safe"));
    }
    const auto shifted = add("Sub", {input_, low}, own("shifted"));
    add("Div", {shifted, range}, step_->name);
  }

  void lower(const engine::GraphUpsample& op) {
    std::vector<float> scales(2 + spatial_dims(), 2);
    scales[0] = scales[1] = 1;
    auto tensor = f32_tensor(own("scales"), {static_cast<std::int64_t>(scales.size())}, scales);
    model_.constants.push_back(std::move(tensor));  // always f32
    const bool asymmetric = op.mode == engine::GraphUpsample::Mode::Asymmetric;
    add("Resize", {input_, "", own("scales")}, step_->name,
        {{"mode", std::string("linear")},
         {"coordinate_transformation_mode",
          std::string(asymmetric ? "asymmetric" : "half_pixel")}});
  }

  void lower(const engine::GraphMaxPool& op) {
    const auto dims = spatial_dims();
    std::vector<std::int64_t> pads(dims, 0);
    pads.insert(pads.end(), dims, op.after);
    add("MaxPool", {input_}, step_->name,
        {{"kernel_shape", std::vector<std::int64_t>(dims, op.window)},
         {"strides", std::vector<std::int64_t>(dims, op.stride)},
         {"pads", pads}});
  }

  void lower(const engine::GraphSubtract& op) {
    io::Shape shape(spatial_dims() + 1, 1);  // (C, 1, ...)
    shape[0] = static_cast<std::int64_t>(op.values.size());
    const std::vector<float> values(op.values.begin(), op.values.end());
    add("Sub", {input_, constant(f32_tensor("", shape, values), own("values"))}, step_->name);
  }

  void lower(const engine::GraphConcat&) {
    add("Concat", inputs_, step_->name, {{"axis", std::int64_t{1}}});
  }

  void lower(const engine::GraphGlobalMean&) { add("GlobalAveragePool", {input_}, step_->name); }

  /// Sizes of 1 for batch and channels broadcast to those of the first input.
  void lower(const engine::GraphSpread&) {
    const auto shape = add("Shape", {inputs_.at(1)}, own("shape"));
    const auto end = integers({static_cast<std::int64_t>(2 + spatial_dims())}, own("to"));
    const auto extents = add("Slice", {shape, integers({2}, own("from")), end}, own("extents"));
    const auto sizes = add("Concat", {integers({1, 1}, own("ones")), extents}, own("sizes"),
                           {{"axis", std::int64_t{0}}});
    add("Expand", {input_, sizes}, step_->name);
  }

  const engine::Graph& graph_;
  bool half_, in_half_ = false;  // f16 in the model, and in this step
  OnnxOptions options_;
  io::OnnxModel model_;
  std::map<std::string, std::string> names_;
  const GraphStep* step_ = nullptr;
  std::vector<std::string> inputs_;
  std::string input_;                    // the first of inputs_
  std::set<std::string> halves_, cast_;  // values in f16, and outputs of casts
  std::int64_t channels_ = 1;
  std::optional<std::vector<io::OnnxExtent>> resized_;
};

}  // namespace

io::OnnxModel to_onnx(const engine::Graph& graph, const OnnxOptions& options) {
  check(!graph.steps.empty() && graph.input_shape.size() >= 3, ErrorKind::Internal,
        "[export.onnx] the graph of {} has no steps or no channels.", graph.name);
  return OnnxLowering(graph, options).run();
}

}  // namespace ubique::exporting
