// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/meshnet/files/onnx_activation.h"

#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/io/text/printable.h"

namespace ubique::meshnet {
namespace {

using kernels::Activation;
using Numbers = std::vector<double>;

// Half-precision constants are off by no more than this; the two GELUs differ by less, so that the
// nearest function is taken, not the first that is near enough.
constexpr double kNearEnough = 3e-3;

double alpha_of(const io::OnnxNode& node) {
  const auto found = node.attributes.find("alpha");
  const auto* value = found == node.attributes.end() ? nullptr : std::get_if<float>(&found->second);
  return value == nullptr ? 1 : *value;
}

using Elementwise = std::function<double(const io::OnnxNode&, const Numbers&)>;

const std::map<std::string, Elementwise>& elementwise() {
  static const std::map<std::string, Elementwise> kTable = {
      {"Relu", [](const io::OnnxNode&, const Numbers& x) { return std::max(x.at(0), 0.0); }},
      {"Elu",
       [](const io::OnnxNode& node, const Numbers& x) {
         return x.at(0) > 0 ? x[0] : alpha_of(node) * std::expm1(x[0]);
       }},
      {"Erf", [](const io::OnnxNode&, const Numbers& x) { return std::erf(x.at(0)); }},
      {"Tanh", [](const io::OnnxNode&, const Numbers& x) { return std::tanh(x.at(0)); }},
      {"Add", [](const io::OnnxNode&, const Numbers& x) { return x.at(0) + x.at(1); }},
      {"Sub", [](const io::OnnxNode&, const Numbers& x) { return x.at(0) - x.at(1); }},
      {"Mul", [](const io::OnnxNode&, const Numbers& x) { return x.at(0) * x.at(1); }},
      {"Div", [](const io::OnnxNode&, const Numbers& x) { return x.at(0) / x.at(1); }},
      {"Pow", [](const io::OnnxNode&, const Numbers& x) { return std::pow(x.at(0), x.at(1)); }},
      {"Identity", [](const io::OnnxNode&, const Numbers& x) { return x.at(0); }},
      {"Cast", [](const io::OnnxNode&, const Numbers& x) { return x.at(0); }},
  };
  return kTable;
}

std::size_t inputs_of(const std::string& op) {
  return op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "Pow" ? 2 : 1;
}

double compute_nodes(std::span<const io::OnnxNode> nodes, std::map<std::string, double> values,
                     const std::string& to, const std::string& where) {
  for (const auto& node : nodes) {
    const auto compute = elementwise().find(node.op);
    check(compute != elementwise().end(), ErrorKind::Input,
          "[meshnet.onnx] {}: the operator {} is not known here; expected convolutions, batch or "
          "instance norms and activations (relu, elu, gelu) in a chain.",
          where, io::printable(node.op));
    Numbers inputs;
    for (const auto& name : node.inputs) {
      const auto found = values.find(name);
      check(
          found != values.end(), ErrorKind::Input,
          "[meshnet.onnx] {}: {} '{}' takes '{}', which is neither the chain's value nor a single "
          "number.",
          where, io::printable(node.op), io::printable(node.name), io::printable(name));
      inputs.push_back(found->second);
    }
    check(inputs.size() == inputs_of(node.op), ErrorKind::Input,
          "[meshnet.onnx] {}: {} '{}' has {} inputs; expected {}.", where, node.op,
          io::printable(node.name), inputs.size(), inputs_of(node.op));
    values[node.outputs.at(0)] = compute->second(node, inputs);
  }
  const auto found = values.find(to);
  check(found != values.end(), ErrorKind::Input, "[meshnet.onnx] {}: nothing makes '{}'.", where,
        io::printable(to));
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

}  // namespace

Activation onnx_activation(std::span<const io::OnnxNode> nodes, const std::string& from,
                           const std::string& to, const std::map<std::string, double>& numbers,
                           const std::string& where) {
  constexpr std::array kKinds = {Activation::None, Activation::Relu, Activation::Elu,
                                 Activation::Gelu, Activation::GeluTanh};
  std::array<double, kKinds.size()> off{};
  for (int i = -24; i <= 24; ++i) {
    const double x = 0.25 * i;
    auto values = numbers;
    values[from] = x;
    const auto got = compute_nodes(nodes, std::move(values), to, where);
    for (std::size_t k = 0; k < kKinds.size(); ++k) {
      off[k] = std::max(off[k], std::abs(got - activate(kKinds[k], x)));
    }
  }
  const auto nearest =
      static_cast<std::size_t>(std::min_element(off.begin(), off.end()) - off.begin());
  check(off[nearest] < kNearEnough, ErrorKind::Input,
        "[meshnet.onnx] {}: what leads to '{}' is no activation known here; expected relu, elu, "
        "gelu or gelu_tanh.",
        where, io::printable(to));
  return kKinds[nearest];
}

}  // namespace ubique::meshnet
