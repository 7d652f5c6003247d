// SPDX-License-Identifier: Apache-2.0
// Inputs, outputs and precisions of an ONNX model that is made from a graph.
#include "ubique/export/onnx.h"

#include <algorithm>
#include <span>

#include "ubique/base/error.h"
#include "ubique/export/onnx_lowering.h"
#include "ubique/export/quantise.h"

namespace ubique::exporting {
namespace {

using engine::GraphStep;
using io::HostTensor;

constexpr std::int64_t kOnnxFloat = 1, kOnnxHalf = 10;  // element types in a Cast

std::vector<io::OnnxExtent> extents_of(const std::vector<engine::GraphExtent>& shape) {
  return {shape.begin(), shape.end()};
}

/// Is the step's operator one of these?
template <typename... Ops>
bool is_one_of(const GraphStep& step) {
  return (std::holds_alternative<Ops>(step.op) || ...);
}

}  // namespace

HostTensor f32_tensor(std::string name, io::Shape shape, const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {std::move(name), DType::F32, std::move(shape), {bytes.begin(), bytes.end()}};
}

io::OnnxModel OnnxLowering::run() {
  model_.name = graph_.name;
  model_.producer = "ubique";
  model_.metadata = graph_.notes;
  add_inputs();
  for (const auto& step : graph_.steps) {
    step_ = &step;
    inputs_.clear();
    for (const auto& input : step.inputs) inputs_.push_back(names_.at(input));
    names_[step.name] = step.name;
    choose_precision();
    input_ = inputs_.at(0);
    std::visit([&](const auto& op) { lower(op); }, step.op);
  }
  add_outputs();
  return std::move(model_);
}

void OnnxLowering::add_inputs() {
  if (graph_.inputs.empty()) {
    model_.inputs = {{"input", outer(), extents_of(graph_.input_shape)}};
    names_[graph_.input] = "input";
    if (outer() == DType::F16) halves_.insert("input");
    return;
  }
  for (const auto& value : graph_.inputs) {
    const bool real = value.dtype == DType::F32;
    const auto dtype = real ? outer() : value.dtype;
    model_.inputs.push_back({value.name, dtype, extents_of(value.shape)});
    names_[value.name] = value.name;
    if (!real) exact_.insert(value.name);
    if (dtype == DType::F16) halves_.insert(value.name);
  }
}

void OnnxLowering::add_outputs() {
  if (graph_.outputs.empty()) return add_picture_output();
  const bool half = outer() == DType::F16;
  for (const auto& output : graph_.outputs) {
    if (halves_.contains(output.step) != half) {
      cast(output.step, output.name, half);
    } else {
      add("Identity", {output.step}, output.name);
    }
    model_.outputs.push_back({output.name, outer(), extents_of(output.shape)});
  }
}

bool OnnxLowering::gives_labels() const {
  return std::holds_alternative<engine::GraphArgmax>(graph_.steps.back().op);
}

void OnnxLowering::add_picture_output() {
  const auto& last = graph_.steps.back().name;
  const bool half = outer() == DType::F16;
  if (!gives_labels() && halves_.contains(last) != half) {
    cast(last, "output", half);
  } else {
    add("Identity", {last}, "output");
  }
  auto shape = extents_of(graph_.input_shape);
  if (resized_) std::copy(resized_->begin(), resized_->end(), shape.begin() + 2);
  if (gives_labels()) {
    shape.erase(shape.begin() + 1);
  } else {
    shape[1] = channels_;
  }
  model_.outputs = {{"output", gives_labels() ? DType::I64 : outer(), shape}};
}

/// Steps that normalise or shift the value range are computed in f32 unless the input itself is
/// f16: raw intensities may exceed f16's range, and maps scaled to 0..1 need its precision. Angles
/// of far positions and sums of squares need f32 in any case; KV caches are what their input is.
bool OnnxLowering::needs_whole_precision() const {
  if (is_one_of<engine::GraphLayerNorm, engine::GraphRmsNorm, engine::GraphAngles,
                engine::GraphRotate>(*step_)) {
    return true;
  }
  if (is_one_of<engine::GraphAppend>(*step_)) return !options_.half_io;
  const bool ranges =
      is_one_of<engine::GraphMinMax, engine::GraphResize, engine::GraphSubtract>(*step_);
  return ranges && !(options_.half_io && inputs_[0] == "input");
}

void OnnxLowering::choose_precision() {
  if (is_one_of<engine::GraphCausalMask>(*step_)) {
    exact_.insert(step_->name);
    in_half_ = false;
    return;
  }
  if (!half_) return;
  in_half_ = !needs_whole_precision();
  for (auto& input : inputs_) input = in_precision(input);
  if (in_half_) halves_.insert(step_->name);
}

/// The value in the step's precision; it is cast only once, however many steps use it.
std::string OnnxLowering::in_precision(const std::string& value) {
  if (exact_.contains(value) || halves_.contains(value) == in_half_) return value;
  const auto name = value + (in_half_ ? ".half" : ".whole");
  if (!cast_.insert(name).second) return name;
  if (in_half_) halves_.insert(name);
  return cast(value, name, in_half_);
}

std::string OnnxLowering::cast(const std::string& value, const std::string& output, bool to_half) {
  return add("Cast", {value}, output, {{"to", to_half ? kOnnxHalf : kOnnxFloat}});
}

std::string OnnxLowering::add(const std::string& op, std::vector<std::string> inputs,
                              const std::string& output,
                              std::map<std::string, io::OnnxAttribute> attributes) {
  model_.nodes.push_back({op, output, std::move(inputs), {output}, std::move(attributes)});
  return output;
}

std::string OnnxLowering::constant(HostTensor tensor, const std::string& name) {
  tensor.name = name;
  model_.constants.push_back(in_half_ ? to_half(tensor) : std::move(tensor));
  return name;
}

std::string OnnxLowering::number(float value, const std::string& name) {
  return constant(f32_tensor("", {}, {value}), name);
}

std::string OnnxLowering::integer(std::int64_t value, const std::string& name) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  model_.constants.push_back({name, DType::I64, {}, {bytes.begin(), bytes.end()}});
  return name;
}

std::string OnnxLowering::integers(const std::vector<std::int64_t>& values,
                                   const std::string& name) {
  const auto bytes = std::as_bytes(std::span(values));
  model_.constants.push_back(
      {name, DType::I64, {static_cast<std::int64_t>(values.size())}, {bytes.begin(), bytes.end()}});
  return name;
}

/// Stored in 8 bits with a scale per row; the node computes the f32 values.
std::string OnnxLowering::quantised(const HostTensor& weight, const std::string& output) {
  auto made = quantise_rows(weight);
  made.values.name = output + "_i8";
  made.scales.name = output + "_scale";
  HostTensor zeros{output + "_zero", DType::I8, made.scales.shape,
                   std::vector<std::byte>(static_cast<std::size_t>(weight.shape[0]))};
  const std::vector<std::string> inputs = {made.values.name, made.scales.name, zeros.name};
  for (auto* tensor : {&made.values, &made.scales, &zeros}) {
    model_.constants.push_back(std::move(*tensor));
  }
  return add("DequantizeLinear", inputs, output, {{"axis", std::int64_t{0}}});
}

io::OnnxModel to_onnx(const engine::Graph& graph, const OnnxOptions& options) {
  check(!graph.steps.empty() && (!graph.inputs.empty() || graph.input_shape.size() >= 3),
        ErrorKind::Internal, "[export.onnx] the graph of {} has no steps or no channels.",
        graph.name);
  return OnnxLowering(graph, options).run();
}

}  // namespace ubique::exporting
