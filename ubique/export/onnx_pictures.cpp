// SPDX-License-Identifier: Apache-2.0
// The ONNX nodes of the operators of pictures and volumes: (B, C, ...).
#include "ubique/export/onnx_lowering.h"
#include "ubique/export/quantise.h"

namespace ubique::exporting {

void OnnxLowering::lower(const engine::GraphConv& conv) {
  const auto dims = conv.weight.shape.size() - 2;
  channels_ = conv.weight.shape[0];
  std::vector<std::int64_t> kernel(conv.weight.shape.begin() + 2, conv.weight.shape.end()), pads;
  for (int side = 0; side < 2; ++side) {
    for (const auto extent : kernel) pads.push_back(conv.dilation * (extent / 2));
  }
  const bool small = options_.dtype == DType::I8;
  std::vector<std::string> inputs = {
      input_, small ? quantised(conv.weight, own("weight")) : constant(conv.weight, own("weight"))};
  if (conv.bias) inputs.push_back(constant(*conv.bias, own("bias")));
  add("Conv", inputs, step_->name,
      {{"dilations", std::vector<std::int64_t>(dims, conv.dilation)},
       {"kernel_shape", kernel},
       {"pads", pads},
       {"strides", std::vector<std::int64_t>(dims, 1)}});
}

void OnnxLowering::lower(const engine::GraphBatchNorm& norm) {
  add("BatchNormalization",
      {input_, constant(norm.weight, own("weight")), constant(norm.bias, own("bias")),
       constant(norm.mean, own("running_mean")), constant(norm.variance, own("running_var"))},
      step_->name, {{"epsilon", static_cast<float>(norm.epsilon)}});
}

void OnnxLowering::lower(const engine::GraphInstanceNorm& norm) {
  const auto count = static_cast<std::size_t>(norm.channels);
  const auto ones = f32_tensor("", {norm.channels}, std::vector<float>(count, 1));
  const auto zeros = f32_tensor("", {norm.channels}, std::vector<float>(count, 0));
  add("InstanceNormalization",
      {input_, constant(ones, own("weight")), constant(zeros, own("bias"))}, step_->name,
      {{"epsilon", static_cast<float>(norm.epsilon)}});
}

void OnnxLowering::lower(const engine::GraphActivation& activation) {
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
void OnnxLowering::lower_gelu() {
  const auto scaled =
      add("Mul", {input_, number(static_cast<float>(std::sqrt(0.5)), own("root"))}, own("scaled"));
  finish_gelu(add("Erf", {scaled}, own("erf")));
}

/// x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))
void OnnxLowering::lower_gelu_tanh() {
  const auto square = add("Mul", {input_, input_}, own("square"));
  const auto cube = add("Mul", {square, input_}, own("cube"));
  const auto part = add("Mul", {cube, number(0.044715F, own("share"))}, own("part"));
  const auto sum = add("Add", {input_, part}, own("sum"));
  const auto scaled = add("Mul", {sum, number(0.7978845608F, own("root"))}, own("scaled"));
  finish_gelu(add("Tanh", {scaled}, own("tanh")));
}

void OnnxLowering::finish_gelu(const std::string& curve) {
  const auto shifted = add("Add", {curve, number(1, own("one"))}, own("shifted"));
  const auto half = add("Mul", {input_, number(0.5F, own("half"))}, own("halved"));
  add("Mul", {half, shifted}, step_->name);
}

void OnnxLowering::lower(const engine::GraphSoftmax&) {
  add("Softmax", {input_}, step_->name, {{"axis", std::int64_t{1}}});
}

void OnnxLowering::lower(const engine::GraphArgmax&) {
  add("ArgMax", {input_}, step_->name, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
}

/// Batch and channels stay the same.
void OnnxLowering::lower(const engine::GraphResize& resize) {
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

/// (x - min) / (max - min); a range of 0 counts as 1.
void OnnxLowering::lower(const engine::GraphMinMax& op) {
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

void OnnxLowering::lower(const engine::GraphUpsample& op) {
  std::vector<float> scales(2 + spatial_dims(), 2);
  scales[0] = scales[1] = 1;
  auto tensor = f32_tensor(own("scales"), {static_cast<std::int64_t>(scales.size())}, scales);
  model_.constants.push_back(std::move(tensor));  // always f32
  const bool asymmetric = op.mode == engine::GraphUpsample::Mode::Asymmetric;
  add("Resize", {input_, "", own("scales")}, step_->name,
      {{"mode", std::string("linear")},
       {"coordinate_transformation_mode", std::string(asymmetric ? "asymmetric" : "half_pixel")}});
}

void OnnxLowering::lower(const engine::GraphMaxPool& op) {
  const auto dims = spatial_dims();
  std::vector<std::int64_t> pads(dims, 0);
  pads.insert(pads.end(), dims, op.after);
  add("MaxPool", {input_}, step_->name,
      {{"kernel_shape", std::vector<std::int64_t>(dims, op.window)},
       {"strides", std::vector<std::int64_t>(dims, op.stride)},
       {"pads", pads}});
}

void OnnxLowering::lower(const engine::GraphSubtract& op) {
  io::Shape shape(spatial_dims() + 1, 1);  // (C, 1, ...)
  shape[0] = static_cast<std::int64_t>(op.values.size());
  const std::vector<float> values(op.values.begin(), op.values.end());
  add("Sub", {input_, constant(f32_tensor("", shape, values), own("values"))}, step_->name);
}

void OnnxLowering::lower(const engine::GraphConcat&) {
  add("Concat", inputs_, step_->name, {{"axis", std::int64_t{1}}});
}

void OnnxLowering::lower(const engine::GraphGlobalMean&) {
  add("GlobalAveragePool", {input_}, step_->name);
}

/// Sizes of 1 for batch and channels broadcast to those of the first input.
void OnnxLowering::lower(const engine::GraphSpread&) {
  const auto shape = add("Shape", {inputs_.at(1)}, own("shape"));
  const auto end = integers({static_cast<std::int64_t>(2 + spatial_dims())}, own("to"));
  const auto extents = add("Slice", {shape, integers({2}, own("from")), end}, own("extents"));
  const auto sizes = add("Concat", {integers({1, 1}, own("ones")), extents}, own("sizes"),
                         {{"axis", std::int64_t{0}}});
  add("Expand", {input_, sizes}, step_->name);
}

}  // namespace ubique::exporting
