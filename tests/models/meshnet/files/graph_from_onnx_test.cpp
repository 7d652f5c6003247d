// SPDX-License-Identifier: Apache-2.0
// ONNX models of other exporters, read as a chain of layers.
#include "ubique/models/meshnet/files/graph_from_onnx.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/base/scratch.h"
#include "ubique/base/error.h"

using namespace ubique;
using io::OnnxNode;
using meshnet::graph_from_onnx;

namespace {

io::HostTensor floats(const std::string& name, const io::Shape& shape, float value) {
  std::int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  const std::vector<float> values(static_cast<std::size_t>(count), value);
  const auto bytes = std::as_bytes(std::span(values));
  return {name, DType::F32, shape, {bytes.begin(), bytes.end()}};
}

using Nodes = std::vector<OnnxNode>;

/// A convolution of one channel, then `nodes`, which end in "y".
io::OnnxModel with(Nodes nodes) {
  io::OnnxModel model;
  model.inputs = {{"x", DType::F32, {std::int64_t{1}, std::int64_t{1}, std::string("w")}}};
  model.outputs = {{"y", DType::F32, {std::int64_t{1}, std::int64_t{1}, std::string("w")}}};
  model.constants = {floats("w", {1, 1, 3}, 0.5F), floats("half", {}, 0.5F),
                     floats("one", {}, 1),         floats("root", {}, 1.41421356F),
                     floats("three", {}, 3),       floats("share", {}, 0.044715F),
                     floats("pi", {}, 0.79788456F)};
  model.nodes = {
      {"Conv",
       "first",
       {"x", "w"},
       {"c"},
       {{"pads", std::vector<std::int64_t>{2, 2}}, {"dilations", std::vector<std::int64_t>{2}}}}};
  for (auto& node : nodes) model.nodes.push_back(std::move(node));
  return model;
}

std::string refused(const io::OnnxModel& model) {
  return test::refusal_of(ErrorKind::Input, [&] { graph_from_onnx(model, "net.onnx"); });
}

kernels::Activation activation_of(const Nodes& nodes) {
  const auto graph = graph_from_onnx(with(nodes), "net.onnx");
  REQUIRE(graph.steps.size() == 2);
  return std::get<engine::GraphActivation>(graph.steps[1].op).kind;
}

}  // namespace

TEST_CASE("graph from onnx: a convolution keeps its dilation and weights") {
  const auto graph = graph_from_onnx(with({{"Identity", "", {"c"}, {"y"}, {}}}), "net.onnx");
  REQUIRE(graph.steps.size() == 1);
  const auto& conv = std::get<engine::GraphConv>(graph.steps[0].op);
  CHECK(conv.dilation == 2);
  CHECK(conv.weight.shape == io::Shape{1, 1, 3});
  CHECK_FALSE(conv.bias.has_value());
}

TEST_CASE("graph from onnx: weights shared under a second name are found") {
  auto model = with({{"Identity", "", {"w"}, {"v"}, {}},
                     {"Conv", "", {"c", "v"}, {"y"}, {{"pads", std::vector<std::int64_t>{1, 1}}}}});
  const auto graph = graph_from_onnx(model, "net.onnx");
  REQUIRE(graph.steps.size() == 2);
  const auto& first = std::get<engine::GraphConv>(graph.steps[0].op);
  CHECK((std::get<engine::GraphConv>(graph.steps[1].op).weight.bytes == first.weight.bytes));
}

TEST_CASE("graph from onnx: GELU is recognised in the forms that exporters write") {
  using kernels::Activation;
  CHECK(activation_of({{"Div", "", {"c", "root"}, {"d"}, {}},
                       {"Erf", "", {"d"}, {"e"}, {}},
                       {"Add", "", {"e", "one"}, {"f"}, {}},
                       {"Mul", "", {"c", "f"}, {"g"}, {}},
                       {"Mul", "", {"g", "half"}, {"y"}, {}}}) == Activation::Gelu);
  CHECK(activation_of({{"Pow", "", {"c", "three"}, {"d"}, {}},
                       {"Mul", "", {"d", "share"}, {"e"}, {}},
                       {"Add", "", {"c", "e"}, {"f"}, {}},
                       {"Mul", "", {"f", "pi"}, {"g"}, {}},
                       {"Tanh", "", {"g"}, {"h"}, {}},
                       {"Add", "", {"h", "one"}, {"i"}, {}},
                       {"Mul", "", {"c", "half"}, {"j"}, {}},
                       {"Mul", "", {"i", "j"}, {"y"}, {}}}) == Activation::GeluTanh);
  CHECK(activation_of({{"Relu", "", {"c"}, {"y"}, {}}}) == Activation::Relu);
  CHECK(activation_of({{"Elu", "", {"c"}, {"y"}, {{"alpha", 1.0F}}}}) == Activation::Elu);
}

TEST_CASE("graph from onnx: other operators and functions are named") {
  CHECK(test::contains(refused(with({{"Mish", "", {"c"}, {"y"}, {}}})),
                       "the operator Mish is not known here"));
  CHECK(test::contains(refused(with({{"Elu", "", {"c"}, {"y"}, {{"alpha", 0.5F}}}})),
                       "no activation known here"));
  CHECK(test::contains(refused(with({{"Add", "", {"c", "z"}, {"y"}, {}}})), "takes 'z'"));
  CHECK(test::contains(refused(with({{"Add", "sum", {"c"}, {"y"}, {}}})), "'sum' has 1 inputs"));
  CHECK(test::contains(refused(with({{"Relu", "", {"x"}, {"y"}, {}}})), "takes 'x'"));
  CHECK(test::contains(refused(with({{"Relu", "", {"c"}, {"z"}, {}}})), "nothing makes 'y'"));
}

TEST_CASE("graph from onnx: convolutions that change sizes are refused with the reason") {
  const auto changed = [](const std::string& key, io::OnnxAttribute value) {
    auto model = with({{"Relu", "", {"c"}, {"y"}, {}}});
    model.nodes[0].attributes[key] = std::move(value);
    return refused(model);
  };
  CHECK(test::contains(changed("strides", std::vector<std::int64_t>{2}), "has strides"));
  CHECK(test::contains(changed("pads", std::vector<std::int64_t>{0, 0}), "changes the size"));
  CHECK(test::contains(changed("group", std::int64_t{2}), "has groups"));
  auto few = with({{"BatchNormalization", "norm", {"c", "one"}, {"y"}, {}}});
  CHECK(test::contains(refused(few), "has no weights as its input 2"));
  auto zeros = with({{"DequantizeLinear", "small", {"w", "one", "w"}, {"v"}, {}}});
  CHECK(test::contains(refused(zeros), "other zeros than scales"));
  auto bare = with({{"Relu", "", {"c"}, {"y"}, {}}});
  bare.nodes[0].inputs[1] = "gone";
  CHECK(test::contains(refused(bare), "has no weights"));
}
