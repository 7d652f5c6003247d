// SPDX-License-Identifier: Apache-2.0
// The operator graph: ONNX and TensorFlow.js files compute the network's maps, at any size.
#include "ubique/models/msinet/files/graph.h"

#include "tests/base/scratch.h"
#include "tests/models/msinet/net/network_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/export/onnx_run.h"
#include "ubique/export/tfjs.h"
#include "ubique/export/tfjs_run.h"
#include "ubique/export/write.h"

using namespace ubique;
using namespace ubique::msinet;
using namespace ubique::test;

namespace {

MsiNetModel sample_model(Upsample mode = Upsample::Legacy) {
  auto config = tiny_config();
  config.upsample = mode;
  return MsiNetModel(golden_file(config));
}

std::int64_t count_of(const io::OnnxModel& model, const std::string& op) {
  return std::count_if(model.nodes.begin(), model.nodes.end(),
                       [&](const io::OnnxNode& node) { return node.op == op; });
}

}  // namespace

TEST_CASE("graph: an ONNX file computes the map, in both upsampling modes") {
  for (const auto mode : {Upsample::Legacy, Upsample::HalfPixel}) {
    const ScratchFolder folder;
    auto model = sample_model(mode);
    const auto checked = exporting::export_onnx(graph_export(model), {}, folder / "net.onnx");
    CHECK(checked.difference < 1e-5);
    const auto file = io::read_onnx(folder / "net.onnx");
    CHECK(count_of(file, "Conv") == 17);
    CHECK(count_of(file, "MaxPool") == 4);
    CHECK(count_of(file, "Resize") == 2);
    CHECK((file.inputs[0].shape[2] == io::OnnxExtent(std::string("height"))));
    CHECK((file.outputs[0].shape[1] == io::OnnxExtent(std::int64_t{1})));
    CHECK((file.outputs[0].shape[3] == io::OnnxExtent(std::string("width"))));
    const at::NoGradGuard no_gradients;
    const auto picture = random_picture({2, 3, 28, 20}, 6).to(at::kFloat);  // another size
    CHECK(distance(exporting::run_onnx(file, picture), model.msinet().forward(picture)) < 1e-5);
  }
}

TEST_CASE("graph: upsampling mode and pooling padding as ONNX attributes") {
  const auto attributes = [](const io::OnnxModel& file, const std::string& name) {
    const auto node =
        std::find_if(file.nodes.begin(), file.nodes.end(),
                     [&](const io::OnnxNode& each) { return each.outputs[0] == name; });
    REQUIRE(node != file.nodes.end());
    return node->attributes;
  };
  const auto legacy = exporting::to_onnx(graph_of(sample_model().file()));
  const auto modern = exporting::to_onnx(graph_of(sample_model(Upsample::HalfPixel).file()));
  const auto mode = "coordinate_transformation_mode";
  CHECK(std::get<std::string>(attributes(legacy, "up1").at(mode)) == "asymmetric");
  CHECK(std::get<std::string>(attributes(modern, "up2").at(mode)) == "half_pixel");
  using Integers = std::vector<std::int64_t>;
  CHECK(std::get<Integers>(attributes(legacy, "pool2").at("pads")) == Integers{0, 0, 0, 0});
  CHECK(std::get<Integers>(attributes(legacy, "pool2").at("strides")) == Integers{2, 2});
  CHECK(std::get<Integers>(attributes(legacy, "pool4").at("pads")) == Integers{0, 0, 1, 1});
  CHECK(std::get<Integers>(attributes(legacy, "pool4").at("strides")) == Integers{1, 1});
}

TEST_CASE("graph: f16 begins after the means and ends before the range") {
  const ScratchFolder folder;
  auto model = sample_model();
  const auto exported = graph_export(model);
  const auto whole = exporting::export_onnx(exported, {}, folder / "f32.onnx");
  const auto half = exporting::export_onnx(exported, {DType::F16}, folder / "f16.onnx");
  const auto small = exporting::export_onnx(exported, {DType::I8}, folder / "i8.onnx");
  CHECK(half.difference > whole.difference);
  CHECK(half.difference < 0.02);
  CHECK(small.difference < 0.3);
  REQUIRE((whole.map && half.map && small.map));
  CHECK(half.map->correlation > 0.9999);
  CHECK(half.map->divergence < 1e-3);
  CHECK(small.map->correlation > 0.98);
  CHECK(small.map->divergence < 0.05);
  CHECK(small.map->divergence > half.map->divergence);
  CHECK(half.bytes < 0.6 * static_cast<double>(whole.bytes));
  const auto file = io::read_onnx(folder / "f16.onnx");
  CHECK(count_of(file, "Cast") == 2);
  CHECK(file.nodes[0].op == "Sub");
  CHECK(file.nodes[1].op == "Cast");
  CHECK(file.constant("pixels.values")->dtype == DType::F32);
  CHECK(file.constant("map.epsilon")->dtype == DType::F32);
  CHECK(file.constant("conv1_conv1_1.weight")->dtype == DType::F16);
  CHECK(file.inputs[0].dtype == DType::F32);
  const auto both = exporting::to_onnx(exported.graph, {DType::F16, true});
  CHECK(both.inputs[0].dtype == DType::F16);
  CHECK(both.outputs[0].dtype == DType::F16);
}

TEST_CASE("graph: a network whose values leave f16's range is not written in f16") {
  const ScratchFolder folder;
  auto file = golden_file(tiny_config());
  file.tensors[0].second *= 2000;  // conv1_1
  MsiNetModel model(file);
  const auto exported = graph_export(model);
  CHECK(exporting::export_onnx(exported, {}, folder / "f32.onnx").difference < 1e-5);
  CHECK(contains(
      refusal_of(ErrorKind::Parity,
                 [&] { exporting::export_onnx(exported, {DType::F16}, folder / "f16.onnx"); }),
      "leaves the range of f16"));
  CHECK_FALSE(std::filesystem::exists(folder / "f16.onnx"));
}

TEST_CASE("graph: every value is made before it is used, and once") {
  for (const auto dtype : {DType::F32, DType::F16, DType::I8}) {
    for (const bool half_io : {false, true}) {
      const auto model = exporting::to_onnx(graph_of(sample_model().file()),
                                            {dtype, half_io && dtype == DType::F16});
      std::vector<std::string> known = {"input"};
      for (const auto& tensor : model.constants) known.push_back(tensor.name);
      for (const auto& node : model.nodes) {
        for (const auto& input : node.inputs) {
          CAPTURE(input);
          CHECK((input.empty() || std::count(known.begin(), known.end(), input) == 1));
        }
        CHECK(std::count(known.begin(), known.end(), node.outputs[0]) == 0);
        known.push_back(node.outputs[0]);
      }
      CHECK(known.back() == "output");
    }
  }
}

TEST_CASE("graph: head raw exports the last layer's output") {
  const ScratchFolder folder;
  auto model = sample_model();
  const auto exported = graph_export(model, {.range = false});
  CHECK(exporting::export_onnx(exported, {}, folder / "raw.onnx").difference < 1e-5);
  CHECK(count_of(io::read_onnx(folder / "raw.onnx"), "ReduceMin") == 0);
  auto config = Config::from_text("head: rwa\n", "test.yaml");
  CHECK(contains(refusal_of(ErrorKind::Usage, [&] { read_graph_options(config, "onnx"); }),
                 "Did you mean 'raw'"));
}

TEST_CASE("graph: a file that computes something else is not kept") {
  const ScratchFolder folder;
  auto model = sample_model();
  auto exported = graph_export(model);
  for (auto& step : exported.graph.steps) {
    if (auto* up = std::get_if<engine::GraphUpsample>(&step.op)) {
      up->mode = engine::GraphUpsample::Mode::HalfPixel;
    }
  }
  CHECK(contains(refusal_of(ErrorKind::Parity,
                            [&] { exporting::export_onnx(exported, {}, folder / "bad.onnx"); }),
                 "Nothing was kept"));
  CHECK_FALSE(std::filesystem::exists(folder / "bad.onnx"));
}

TEST_CASE("graph: a TensorFlow.js layers model computes the raw map, in both upsampling modes") {
  for (const auto mode : {Upsample::Legacy, Upsample::HalfPixel}) {
    const ScratchFolder folder;
    auto model = sample_model(mode);
    const auto exported = graph_export(model, {.range = false});
    const auto whole = exporting::export_tfjs(exported, DType::F32, folder / "f32");
    CHECK(whole.difference < 1e-5);
    REQUIRE(whole.map.has_value());
    CHECK(whole.map->correlation > 0.999999);
    CHECK(whole.map->divergence < 1e-6);
    const at::NoGradGuard no_gradients;
    const auto picture = random_picture({2, 3, 28, 20}, 6).to(at::kFloat);  // another size
    const auto raw = exporting::run_tfjs(io::read_tfjs(folder / "f32"), picture);
    CHECK(relative_distance(raw, model.msinet().forward_taps(picture).decoder) < 1e-5);
    const auto half = exporting::export_tfjs(exported, DType::F16, folder / "f16");
    const auto small = exporting::export_tfjs(exported, DType::U8, folder / "u8");
    CHECK(half.map->correlation > 0.9999);
    CHECK(small.map->correlation < half.map->correlation);
    CHECK(small.map->correlation > 0.9);
  }
}

TEST_CASE("graph: a layers model has stock layers, dynamic size, and a description") {
  const ScratchFolder folder;
  auto model = sample_model();
  exporting::export_tfjs(graph_export(model, {.range = false}), DType::F32, folder / "m");
  const auto file = io::read_tfjs(folder / "m");
  std::map<std::string, int> kinds;
  for (const auto& layer : file.layers) ++kinds[layer.class_name];
  CHECK(file.layers[0].config["batch_input_shape"] == Json::parse("[null,null,null,3]"));
  CHECK(kinds.at("Conv2D") == 19);  // one for the means, one for zeros to spread onto
  CHECK(kinds.at("MaxPooling2D") == 4);
  CHECK(kinds.at("UpSampling2D") == 2);
  CHECK(kinds.at("AveragePooling2D") == 2);
  CHECK(file.layers.back().name == "output");
  const auto said = parse_json(read_file(folder / "m/msinet.json"), "msinet.json");
  CHECK(contains(said["output"].get<std::string>(), "max y - min y"));
  const auto text =
      refusal_of(ErrorKind::Usage, [&] { exporting::to_tfjs(graph_of(model.file())); });
  CHECK(contains(text, "--format onnx"));
  auto config = Config::from_text("head: map\n", "test.yaml");
  CHECK(contains(refusal_of(ErrorKind::Usage, [&] { read_graph_options(config, "tfjs"); }),
                 "--head raw"));
  CHECK_FALSE(read_graph_options(Config(), "tfjs").range);
  CHECK(read_graph_options(Config(), "onnx").range);
}
