// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/meshnet/files/graph_from_onnx.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/io/text/printable.h"
#include "ubique/models/meshnet/files/onnx_activation.h"

namespace ubique::meshnet {
namespace {

using io::OnnxNode;
using Integers = std::vector<std::int64_t>;

io::HostTensor f32_tensor(const std::string& name, const at::Tensor& values) {
  const auto host = engine::to_host(values.to(at::kFloat));
  const auto bytes = engine::bytes_of(host);
  return {name, DType::F32, host.sizes().vec(), {bytes.begin(), bytes.end()}};
}

/// Reads nodes one after the other. What is elementwise waits until the next operator of another
/// kind shows where it ends.
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
    settle(model_.outputs[0].name);
    check(!graph_.steps.empty(), ErrorKind::Input, "[meshnet.onnx] {} computes nothing.", where_);
    return std::move(graph_);
  }

 private:
  void read_node(const OnnxNode& node) {
    check(node.outputs.size() == 1 && !node.inputs.empty(), ErrorKind::Input,
          "[meshnet.onnx] {}: {} '{}' has {} outputs and {} inputs; expected one output.", where_,
          io::printable(node.op), io::printable(node.name), node.outputs.size(),
          node.inputs.size());
    if (node.op == "DequantizeLinear") return dequantise(node);
    if (node.op == "Constant") return keep_constant(node);
    if (node.op == "Identity" && constants_.contains(node.inputs[0])) {  // equal weights, kept once
      constants_[node.outputs[0]] = constants_[node.inputs[0]];
      return;
    }
    if (node.op == "Conv") return add_step(node, convolution(node));
    if (node.op == "BatchNormalization") return add_step(node, batch_norm(node));
    if (node.op == "InstanceNormalization") return add_step(node, instance_norm(node));
    if (node.op == "Softmax") return add_step(node, engine::GraphSoftmax{});
    if (node.op == "ArgMax") return add_step(node, engine::GraphArgmax{});
    waiting_.push_back(node);
  }

  void add_step(const OnnxNode& node, engine::GraphOp op) {
    settle(node.inputs[0]);
    push(node.outputs[0], std::move(op));
  }

  void push(const std::string& output, engine::GraphOp op) {
    graph_.steps.push_back({output, std::move(op), {last_step_}});
    last_step_ = value_ = output;
  }

  /// The nodes that wait lead from the chain's value to `to`: what are they together?
  void settle(const std::string& to) {
    const auto waits = [&](const char* op) {
      return std::any_of(waiting_.begin(), waiting_.end(),
                         [&](const OnnxNode& node) { return node.op == op; });
    };
    if (waits("Resize")) refuse("Resize", "resizes its input", "a network without it");
    if (waits("ReduceMin") && waits("ReduceMax")) {
      push(to, engine::GraphMinMax{});
    } else {
      const auto kind = onnx_activation(waiting_, value_, to, numbers(), where_);
      // Only renamed, or rounded to another type: the same value.
      if (kind != kernels::Activation::None) {
        push(to, engine::GraphActivation{kind});
      }
      value_ = to;
    }
    waiting_.clear();
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
    fail(ErrorKind::Input, "[meshnet.onnx] {}: '{}' {}; expected {}.", where_, io::printable(node),
         got, expected);
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
    const auto& values = constant(node, input);  // or there is no such input
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
  std::vector<OnnxNode> waiting_;
  std::string value_;                // what the chain has come to
  std::string last_step_ = "input";  // the step that made it
};

}  // namespace

engine::Graph graph_from_onnx(const io::OnnxModel& model, const std::string& where) {
  return ChainReader(model, where).read();
}

}  // namespace ubique::meshnet
