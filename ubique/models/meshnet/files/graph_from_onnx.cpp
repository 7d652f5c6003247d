// SPDX-License-Identifier: Apache-2.0
// Reads ONNX nodes in order; runs of elementwise nodes are evaluated to see which activation they
// are.
#include "ubique/models/meshnet/files/graph_from_onnx.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <span>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"

namespace ubique::meshnet {
namespace {

using io::OnnxNode;
using Integers = std::vector<std::int64_t>;
using kernels::Activation;
using Numbers = std::vector<double>;

// The error that half-precision constants may cause. The two GELUs differ by less, so the nearest
// function is chosen, not the first within this tolerance.
constexpr double kActivationTolerance = 3e-3;

double alpha_of(const OnnxNode& node) {
  const auto found = node.attributes.find("alpha");
  const auto* value = found == node.attributes.end() ? nullptr : std::get_if<float>(&found->second);
  return value == nullptr ? 1 : *value;
}

using Elementwise = std::function<double(const OnnxNode&, const Numbers&)>;

const std::map<std::string, Elementwise>& elementwise() {
  static const std::map<std::string, Elementwise> kTable = {
      {"Relu", [](const OnnxNode&, const Numbers& x) { return std::max(x.at(0), 0.0); }},
      {"Elu",
       [](const OnnxNode& node, const Numbers& x) {
         return x.at(0) > 0 ? x[0] : alpha_of(node) * std::expm1(x[0]);
       }},
      {"Erf", [](const OnnxNode&, const Numbers& x) { return std::erf(x.at(0)); }},
      {"Tanh", [](const OnnxNode&, const Numbers& x) { return std::tanh(x.at(0)); }},
      {"Add", [](const OnnxNode&, const Numbers& x) { return x.at(0) + x.at(1); }},
      {"Sub", [](const OnnxNode&, const Numbers& x) { return x.at(0) - x.at(1); }},
      {"Mul", [](const OnnxNode&, const Numbers& x) { return x.at(0) * x.at(1); }},
      {"Div", [](const OnnxNode&, const Numbers& x) { return x.at(0) / x.at(1); }},
      {"Pow", [](const OnnxNode&, const Numbers& x) { return std::pow(x.at(0), x.at(1)); }},
      {"Identity", [](const OnnxNode&, const Numbers& x) { return x.at(0); }},
      {"Cast", [](const OnnxNode&, const Numbers& x) { return x.at(0); }},
  };
  return kTable;
}

std::size_t inputs_of(const std::string& op) {
  return op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "Pow" ? 2 : 1;
}

double compute_nodes(std::span<const OnnxNode> nodes, std::map<std::string, double> values,
                     const std::string& to, const std::string& where) {
  for (const auto& node : nodes) {
    const auto compute = elementwise().find(node.op);
    check(compute != elementwise().end(), ErrorKind::Input,
          "[meshnet.onnx] {}: the operator {} is not known here; expected convolutions, batch or "
          "instance norms and activations (relu, elu, gelu) in a chain.",
          where, printable(node.op));
    Numbers inputs;
    for (const auto& name : node.inputs) {
      const auto found = values.find(name);
      check(
          found != values.end(), ErrorKind::Input,
          "[meshnet.onnx] {}: {} '{}' takes '{}', which is neither the chain's value nor a single "
          "number.",
          where, printable(node.op), printable(node.name), printable(name));
      inputs.push_back(found->second);
    }
    check(inputs.size() == inputs_of(node.op), ErrorKind::Input,
          "[meshnet.onnx] {}: {} '{}' has {} inputs; expected {}.", where, node.op,
          printable(node.name), inputs.size(), inputs_of(node.op));
    values[node.outputs.at(0)] = compute->second(node, inputs);
  }
  const auto found = values.find(to);
  check(found != values.end(), ErrorKind::Input, "[meshnet.onnx] {}: nothing makes '{}'.", where,
        printable(to));
  return found->second;
}

double activate(Activation kind, double x) {
  constexpr double kRootHalf = 0.70710678118654752, kRootTwoOverPi = 0.79788456080286536;
  switch (kind) {
    case Activation::Relu:
      return std::max(x, 0.0);
    case Activation::Elu:
      return x > 0 ? x : std::expm1(x);
    case Activation::Gelu:
      return x / 2 * (1 + std::erf(x * kRootHalf));
    case Activation::GeluTanh:
      return x / 2 * (1 + std::tanh(kRootTwoOverPi * (x + 0.044715 * x * x * x)));
    case Activation::None:
      break;
  }
  return x;
}

/// Which activation the elementwise `nodes` compute together, from the value `from` to the value
/// `to`, found by evaluating them; `numbers` are the one-element constants that they use.
Activation recognise_activation(std::span<const OnnxNode> nodes, const std::string& from,
                                const std::string& to, const std::map<std::string, double>& numbers,
                                const std::string& where) {
  constexpr std::array kKinds = {Activation::None, Activation::Relu, Activation::Elu,
                                 Activation::Gelu, Activation::GeluTanh};
  std::array<double, kKinds.size()> errors{};
  for (int i = -24; i <= 24; ++i) {
    const double x = 0.25 * i;
    auto values = numbers;
    values[from] = x;
    const auto got = compute_nodes(nodes, std::move(values), to, where);
    for (std::size_t k = 0; k < kKinds.size(); ++k) {
      errors[k] = std::max(errors[k], std::abs(got - activate(kKinds[k], x)));
    }
  }
  const auto nearest =
      static_cast<std::size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin());
  check(errors[nearest] < kActivationTolerance, ErrorKind::Input,
        "[meshnet.onnx] {}: what leads to '{}' is no activation known here; expected relu, elu, "
        "gelu or gelu_tanh.",
        where, printable(to));
  return kKinds[nearest];
}

io::HostTensor f32_tensor(const std::string& name, const at::Tensor& values) {
  const auto host = engine::to_host(values.to(at::kFloat));
  const auto bytes = engine::bytes_of(host);
  return {name, DType::F32, host.sizes().vec(), {bytes.begin(), bytes.end()}};
}

/// Reads nodes in order. Elementwise nodes are collected until the next operator of another kind
/// shows where the activation ends.
class ChainReader {
 public:
  ChainReader(const io::OnnxModel& model, const std::string& where) : model_(model), where_(where) {
    check(model.inputs.size() == 1 && model.outputs.size() == 1, ErrorKind::Input,
          "[meshnet.onnx] {} has {} inputs and {} outputs; expected one of each.", where_,
          model.inputs.size(), model.outputs.size());
    for (const auto& tensor : model.constants)
      constants_[tensor.name] = engine::torch_tensor(tensor);
    graph_.name = model.name;
    graph_.notes = model.metadata;
    graph_.input = value_ = model.inputs[0].name;
    graph_.input_shape.assign(model.inputs[0].shape.begin(), model.inputs[0].shape.end());
  }

  engine::Graph read() {
    for (const auto& node : model_.nodes) read_node(node);
    add_pending(model_.outputs[0].name);
    check(!graph_.steps.empty(), ErrorKind::Input, "[meshnet.onnx] {} computes nothing.", where_);
    return std::move(graph_);
  }

 private:
  void read_node(const OnnxNode& node) {
    check(node.outputs.size() == 1 && !node.inputs.empty(), ErrorKind::Input,
          "[meshnet.onnx] {}: {} '{}' has {} outputs and {} inputs; expected one output.", where_,
          printable(node.op), printable(node.name), node.outputs.size(), node.inputs.size());
    if (node.op == "DequantizeLinear") return dequantise(node);
    if (node.op == "Constant") return keep_constant(node);
    if (node.op == "Identity" &&
        constants_.contains(node.inputs[0])) {  // weights shared under a second name
      constants_[node.outputs[0]] = constants_[node.inputs[0]];
      return;
    }
    if (node.op == "Conv") return add_step(node, convolution(node));
    if (node.op == "BatchNormalization") return add_step(node, batch_norm(node));
    if (node.op == "InstanceNormalization") return add_step(node, instance_norm(node));
    if (node.op == "Softmax") return add_step(node, engine::GraphSoftmax{});
    if (node.op == "ArgMax") return add_step(node, engine::GraphArgmax{});
    pending_.push_back(node);
  }

  void add_step(const OnnxNode& node, engine::GraphOp op) {
    add_pending(node.inputs[0]);
    push(node.outputs[0], std::move(op));
  }

  void push(const std::string& output, engine::GraphOp op) {
    graph_.steps.push_back({output, std::move(op), {last_step_}});
    last_step_ = value_ = output;
  }

  /// Adds the step that the pending nodes make together, from the chain's value to `to`.
  void add_pending(const std::string& to) {
    const auto has_pending = [&](const char* op) {
      return std::any_of(pending_.begin(), pending_.end(),
                         [&](const OnnxNode& node) { return node.op == op; });
    };
    if (has_pending("Resize")) refuse("Resize", "resizes its input", "a network without it");
    if (has_pending("ReduceMin") && has_pending("ReduceMax")) {
      push(to, engine::GraphMinMax{});
    } else {
      const auto kind = recognise_activation(pending_, value_, to, numbers(), where_);
      // Without an activation the value is only renamed or cast.
      if (kind != kernels::Activation::None) {
        push(to, engine::GraphActivation{kind});
      }
      value_ = to;
    }
    pending_.clear();
  }

  std::map<std::string, double> numbers() const {
    std::map<std::string, double> result;
    for (const auto& [name, tensor] : constants_) {
      if (tensor.numel() == 1) result[name] = tensor.to(at::kDouble).item<double>();
    }
    return result;
  }

  [[noreturn]] void refuse(const std::string& node, const std::string& got,
                           const std::string& expected) const {
    fail(ErrorKind::Input, "[meshnet.onnx] {}: '{}' {}; expected {}.", where_, printable(node), got,
         expected);
  }

  const at::Tensor& constant(const OnnxNode& node, std::size_t input) const {
    const auto found =
        input < node.inputs.size() ? constants_.find(node.inputs[input]) : constants_.end();
    if (found == constants_.end()) {
      refuse(node.name, fmt::format("has no weights as its input {}", input), "constants");
    }
    return found->second;
  }

  io::HostTensor weight(const OnnxNode& node, std::size_t input) const {
    const auto& values = constant(node, input);  // throws if there is no such input
    return f32_tensor(node.inputs[input], values);
  }

  template <typename T>
  T attribute(const OnnxNode& node, const std::string& name, T otherwise) const {
    const auto found = node.attributes.find(name);
    if (found == node.attributes.end()) return otherwise;
    const auto* value = std::get_if<T>(&found->second);
    if (value == nullptr) refuse(node.name, "has a '" + name + "' of another kind", "ONNX's own");
    return *value;
  }

  engine::GraphConv convolution(const OnnxNode& node) const {
    engine::GraphConv conv{weight(node, 1), std::nullopt, 1};
    if (conv.weight.shape.size() < 3) refuse(node.name, "has flat weights", "a convolution's");
    const auto dims = conv.weight.shape.size() - 2;
    if (node.inputs.size() > 2 && !node.inputs[2].empty()) conv.bias = weight(node, 2);
    const auto dilations = attribute(node, "dilations", Integers(dims, 1));
    conv.dilation = dilations.empty() ? 1 : dilations.front();
    Integers pads;
    for (std::size_t i = 0; i < 2 * dims; ++i) {
      pads.push_back(conv.dilation * (conv.weight.shape[2 + i % dims] / 2));
    }
    const auto automatic = attribute(node, "auto_pad", std::string("NOTSET"));
    const bool same =
        automatic.starts_with("SAME") || attribute(node, "pads", Integers(2 * dims, 0)) == pads;
    if (dilations != Integers(dims, conv.dilation)) {
      refuse(node.name, "is dilated differently along its axes", "one dilation");
    }
    if (!same) refuse(node.name, "changes the size of its input", "zeros around it that keep it");
    if (attribute(node, "strides", Integers(dims, 1)) != Integers(dims, 1)) {
      refuse(node.name, "has strides", "none");
    }
    if (attribute(node, "group", std::int64_t{1}) != 1) refuse(node.name, "has groups", "none");
    return conv;
  }

  engine::GraphBatchNorm batch_norm(const OnnxNode& node) const {
    return {weight(node, 1), weight(node, 2), weight(node, 3), weight(node, 4),
            attribute(node, "epsilon", 1e-5F)};
  }

  engine::GraphInstanceNorm instance_norm(const OnnxNode& node) const {
    if (!constant(node, 1).eq(1).all().item<bool>() ||
        !constant(node, 2).eq(0).all().item<bool>()) {
      refuse(node.name, "is an instance norm with weights", "one without");
    }
    return {constant(node, 1).numel(), attribute(node, "epsilon", 1e-5F)};
  }

  void dequantise(const OnnxNode& node) {
    const auto& values = constant(node, 0);
    const auto& scale = constant(node, 1);
    Integers shape(static_cast<std::size_t>(values.dim()), 1);
    const auto axis = attribute(node, "axis", std::int64_t{1});
    if (scale.numel() != 1) {
      if (axis < 0 || axis >= values.dim() || values.size(axis) != scale.numel()) {
        refuse(node.name, "has scales that do not fit its values", "one per row");
      }
      shape[static_cast<std::size_t>(axis)] = scale.numel();
    }
    auto result = values.to(at::kFloat);
    if (node.inputs.size() > 2) {
      const auto& zero = constant(node, 2);
      if (zero.numel() != scale.numel())
        refuse(node.name, "has other zeros than scales", "as many");
      result = result - zero.to(at::kFloat).reshape(shape);
    }
    constants_[node.outputs[0]] = result * scale.to(at::kFloat).reshape(shape);
  }

  void keep_constant(const OnnxNode& node) {
    const auto found = node.attributes.find("value");
    const auto* tensor =
        found == node.attributes.end() ? nullptr : std::get_if<io::HostTensor>(&found->second);
    if (tensor == nullptr) refuse(node.name, "is a constant without a tensor", "one");
    constants_[node.outputs[0]] = engine::torch_tensor(*tensor);
  }

  const io::OnnxModel& model_;
  const std::string& where_;
  engine::Graph graph_;
  std::map<std::string, at::Tensor> constants_;
  std::vector<OnnxNode> pending_;
  std::string value_;                // the chain's current value
  std::string last_step_ = "input";  // the step that made it
};

}  // namespace

engine::Graph graph_from_onnx(const io::OnnxModel& model, const std::string& where) {
  return ChainReader(model, where).read();
}

}  // namespace ubique::meshnet
