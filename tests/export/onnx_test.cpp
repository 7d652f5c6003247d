// SPDX-License-Identifier: Apache-2.0
// Graphs as ONNX models: names, operators, types; tests/peers computes them in ONNX Runtime.
#include "ubique/export/onnx.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "tests/base/scratch.h"
#include "tests/models/meshnet/net/network_samples.h"
#include "ubique/export/onnx_run.h"
#include "ubique/export/quantise.h"
#include "ubique/export/write.h"
#include "ubique/models/meshnet/files/graph.h"

using namespace ubique;
using exporting::to_onnx;

namespace {

meshnet::MeshNetFile sample_file(meshnet::Activation activation = meshnet::Activation::Relu) {
  meshnet::MeshNetConfig config;
  config.channels = 5;
  config.dilations = {1, 2};
  config.activation = activation;
  return {config, meshnet::state_of(*test::random_network(config)), "test"};
}

std::vector<std::string> ops_of(const io::OnnxModel& model) {
  std::vector<std::string> ops;
  for (const auto& node : model.nodes) ops.push_back(node.op);
  return ops;
}

std::vector<float> floats_of(const io::HostTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

}  // namespace

TEST_CASE("onnx export: a folded network is convolutions and activations") {
  const auto model = to_onnx(meshnet::graph_of(sample_file()));
  CHECK(ops_of(model) ==
        std::vector<std::string>{"Conv", "Relu", "Conv", "Relu", "Conv", "Identity"});
  CHECK(model.opset == 17);
  REQUIRE(model.inputs.size() == 1);
  CHECK(model.inputs[0].name == "input");
  CHECK((model.inputs[0].shape[1] == io::OnnxExtent(std::int64_t{1})));
  CHECK((model.inputs[0].shape[4] == io::OnnxExtent(std::string("width"))));
  CHECK(model.outputs[0].name == "output");
  CHECK((model.outputs[0].shape[1] == io::OnnxExtent(std::int64_t{2})));
  const auto& second = model.nodes[2].attributes;
  CHECK((std::get<std::vector<std::int64_t>>(second.at("dilations")) ==
         std::vector<std::int64_t>{2, 2, 2}));
  CHECK(
      (std::get<std::vector<std::int64_t>>(second.at("pads")) == std::vector<std::int64_t>(6, 2)));
  CHECK(model.metadata.contains("meshnet_config"));
}

TEST_CASE("onnx export: every value is defined once, before its use") {
  for (const auto activation : {meshnet::Activation::Gelu, meshnet::Activation::GeluTanh,
                                meshnet::Activation::Elu, meshnet::Activation::Relu}) {
    meshnet::GraphOptions options{false, meshnet::GraphHead::Labels, true};
    for (const auto dtype : {DType::F32, DType::F16, DType::I8}) {
      const auto model = to_onnx(meshnet::graph_of(sample_file(activation), options), {dtype});
      std::vector<std::string> known = {"input"};
      for (const auto& tensor : model.constants) known.push_back(tensor.name);
      for (const auto& node : model.nodes) {
        for (const auto& input : node.inputs) {
          CAPTURE(input);
          CHECK(std::count(known.begin(), known.end(), input) == 1);
        }
        CHECK(std::count(known.begin(), known.end(), node.outputs[0]) == 0);
        known.push_back(node.outputs[0]);
      }
      CHECK(known.back() == "output");
      CHECK(model.outputs[0].dtype == DType::I64);
      CHECK(model.outputs[0].shape.size() == 4);
    }
  }
}

TEST_CASE("onnx export: f16 begins after intensities are in range") {
  const meshnet::GraphOptions options{true, meshnet::GraphHead::Logits, true};
  const auto model = to_onnx(meshnet::graph_of(sample_file(), options), {DType::F16});
  const auto ops = ops_of(model);
  CHECK(ops[6] == "Div");
  CHECK(ops[7] == "Cast");
  CHECK(ops.back() == "Cast");
  CHECK(model.inputs[0].dtype == DType::F32);
  CHECK(model.constant("intensity.zero")->dtype == DType::F32);
  CHECK(model.constant("conv_0.weight")->dtype == DType::F16);
  const auto half = to_onnx(meshnet::graph_of(sample_file()), {DType::F16, true});
  CHECK(half.inputs[0].dtype == DType::F16);
  CHECK(half.outputs[0].dtype == DType::F16);
  CHECK(ops_of(half).front() == "Conv");
}

TEST_CASE("onnx export: a file is kept only if its output equals the model's") {
  const test::ScratchFolder folder;
  meshnet::MeshNetModel model(sample_file());
  auto exported = meshnet::graph_export(model, {});
  const auto checked = exporting::export_onnx(exported, {}, folder / "net.onnx");
  CHECK(checked.difference < 1e-5);
  CHECK(checked.bytes ==
        static_cast<std::int64_t>(std::filesystem::file_size(folder / "net.onnx")));
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage,
                       [&] { exporting::export_onnx(exported, {}, folder / "net.onnx"); }),
      "exists already"));

  auto& conv = std::get<engine::GraphConv>(exported.graph.steps[2].op);
  conv.dilation += 1;
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Parity,
                       [&] { exporting::export_onnx(exported, {}, folder / "bad.onnx"); }),
      "Nothing was kept"));
  CHECK_FALSE(std::filesystem::exists(folder / "bad.onnx"));
}

TEST_CASE("onnx export: an unsupported operator is named") {
  io::OnnxModel model = to_onnx(meshnet::graph_of(sample_file()));
  model.nodes[1].op = "Mish";
  CHECK(test::contains(test::refusal_of(ErrorKind::Input,
                                        [&] {
                                          exporting::run_onnx(model, at::zeros({1, 1, 4, 4, 4}));
                                        }),
                       "Mish"));
}

TEST_CASE("quantise: 8 bits with a scale per row are within half a step") {
  const std::vector<float> values = {0.5F, -1, 0.25F, 0, 0, 0, 100, 3, -50};
  const auto bytes = std::as_bytes(std::span(values));
  const io::HostTensor tensor{"w", DType::F32, {3, 3}, {bytes.begin(), bytes.end()}};
  const auto quantised = exporting::quantise_rows(tensor);
  const auto scales = floats_of(quantised.scales);
  REQUIRE(scales.size() == 3);
  CHECK(scales[1] == 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<float>(static_cast<std::int8_t>(quantised.values.bytes[i]));
    CHECK(std::abs(value * scales[i / 3] - values[i]) <= scales[i / 3] * 0.501F);
  }
}

TEST_CASE("quantise: a kernel keeps its sum when its taps are rounded") {
  const std::vector<float> values = {0.3F, 0.3F, 0.3F, 0.3F, 0.3F, 0.3F, 0.3F, 0.3F, 100};
  const auto bytes = std::as_bytes(std::span(values));
  const io::HostTensor tensor{"w", DType::F32, {1, 1, 9}, {bytes.begin(), bytes.end()}};
  const auto sum_of = [](const io::HostTensor& steps, double scale, double min) {
    double sum = 0;
    for (const auto step : steps.bytes) {
      sum += steps.dtype == DType::I8 ? static_cast<std::int8_t>(step) * scale
                                      : static_cast<std::uint8_t>(step) * scale + min;
    }
    return sum;
  };
  const auto rows = exporting::quantise_rows(tensor);
  const auto scale = static_cast<double>(floats_of(rows.scales)[0]);
  CHECK(std::abs(sum_of(rows.values, scale, 0) - 102.4) <= scale / 2);  // plain rounding gives 0
  const auto whole = exporting::quantise_whole(tensor);
  CHECK(std::abs(sum_of(whole.values, whole.scale, whole.min) - 102.4) <= whole.scale / 2);
}

TEST_CASE("quantise: a weight beyond f16 is refused") {
  const std::vector<float> values = {1e5F};
  const auto bytes = std::as_bytes(std::span(values));
  CHECK_THROWS_WITH_AS(exporting::to_half({"w", DType::F32, {1}, {bytes.begin(), bytes.end()}}),
                       doctest::Contains("does not fit into f16"), Error);
}
