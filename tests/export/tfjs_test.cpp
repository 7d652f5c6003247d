// SPDX-License-Identifier: Apache-2.0
// TensorFlow.js folders as BrainChop loads them, in its axes, and their import.
#include "ubique/export/tfjs.h"

#include <ATen/core/grad_mode.h>
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/export/samples.h"
#include "ubique/base/files/file.h"
#include "ubique/export/tfjs_run.h"
#include "ubique/export/write.h"
#include "ubique/models/meshnet/files/axes.h"
#include "ubique/models/meshnet/files/graph.h"
#include "ubique/models/meshnet/files/import.h"
#include "ubique/models/meshnet/files/sidecar_files.h"

using namespace ubique;
using meshnet::Activation;
using meshnet::Norm;
using test::random_file;
using test::refusal_of;
using test::ScratchFolder;
using test::small_config;

namespace {

engine::GraphExport exported(const meshnet::MeshNetConfig& config,
                             const meshnet::GraphOptions& options = {}) {
  meshnet::MeshNetModel model(random_file(config));
  return meshnet::graph_export(model, options);
}

Json layers_in(const std::filesystem::path& folder) {
  const auto document = parse_json(read_file(folder / "model.json"), "model.json");
  return document["modelTopology"]["model_config"]["config"]["layers"];
}

}  // namespace

TEST_CASE("tfjs export: layers are named and linked as BrainChop expects them") {
  const ScratchFolder folder;
  const auto config = meshnet::preset("meshnet-5");
  exporting::export_tfjs(exported(config), DType::F32, folder / "m");
  const auto layers = layers_in(folder / "m");
  REQUIRE(layers.size() == 20);
  CHECK(layers[0]["config"]["batch_input_shape"] == Json::parse("[null,256,256,256,1]"));
  CHECK(layers[1]["name"] == "conv3d_0");
  CHECK(layers[2]["name"] == "activation_1");
  CHECK(layers[3]["name"] == "conv3d_2");
  CHECK(layers[19]["name"] == "output");
  CHECK(layers[19]["inbound_nodes"][0][0][0] == "activation_17");
  CHECK(std::filesystem::file_size(folder / "m/model.bin") == 22368);
}

TEST_CASE("tfjs export: a folder comes back as the folded network, in its own axes") {
  for (const bool turned : {false, true}) {
    CAPTURE(turned);
    const ScratchFolder folder;
    auto config = small_config(Activation::Elu, Norm::Batch);
    config.preprocessing.shape = {64, 48, 32};
    config.labels = {{"background", {}}, {"grey", {200, 100, 50}}, {"white", {1, 2, 3}}};
    const auto file = random_file(config);
    meshnet::MeshNetModel model(file);
    const auto graph = meshnet::graph_export(model, {.browser_axes = turned});
    exporting::export_tfjs(graph, DType::F32, folder / "m");
    const auto back = meshnet::load_any(folder / "m");
    const auto folded = meshnet::fold_batch_norm(file);
    CHECK(test::same_weights(folded, back));
    CHECK((back.config == folded.config));
  }
}

TEST_CASE(
    "tfjs export: a network that learned in RAS says the same of a head in BrainChop's axes") {
  const ScratchFolder folder;
  auto config = meshnet::preset("meshnet-5");
  meshnet::MeshNetModel model(random_file(config));
  model.network().eval();
  at::manual_seed(3);
  const auto head = at::rand({1, 1, 24, 31, 18});  // (B, C, R, A, S)
  const at::NoGradGuard no_gradients;
  const auto logits = model.meshnet().forward(head);
  const auto shown = head.transpose(3, 4).flip({2, 3});  // (B, C, L, I, A), written another way
  const auto off = [&](const meshnet::GraphOptions& options, const char* name) {
    exporting::export_tfjs(meshnet::graph_export(model, options), DType::F32, folder / name);
    const auto there = exporting::run_tfjs(io::read_tfjs(folder / name), shown);
    return test::relative_distance(there.transpose(3, 4).flip({2, 4}), logits);
  };
  CHECK(off({.browser_axes = true}, "turned") < 1e-5);
  CHECK(off({}, "own") > 1e-3);  // kernels in other axes give other values
}

TEST_CASE("tfjs export: permuting axes and back changes nothing") {
  const auto kernel = at::rand({2, 3, 3, 3, 3});
  CHECK(meshnet::from_browser_axes(meshnet::to_browser_axes(kernel)).equal(kernel));
  const auto volume = at::arange(24).view({2, 3, 4});  // (R, A, S)
  const auto turned = meshnet::to_browser_axes(volume);
  CHECK(turned.sizes() == at::IntArrayRef({2, 4, 3}));  // (L, I, A)
  CHECK(turned[0][0][0].item<int>() == volume[1][0][3].item<int>());
}

TEST_CASE("tfjs export: instance norms become _gn layers without biases") {
  const ScratchFolder folder;
  const auto config = small_config(Activation::Gelu, Norm::Instance, false);
  const auto file = random_file(config);
  meshnet::MeshNetModel model(file);
  exporting::export_tfjs(meshnet::graph_export(model, {}), DType::F32, folder / "m");
  const auto layers = layers_in(folder / "m");
  CHECK(layers[1]["name"] == "conv3d_0_gn");
  CHECK(layers[1]["config"]["use_bias"] == false);
  const auto back = meshnet::load_any(folder / "m");
  CHECK(test::same_weights(file, back));
  CHECK(back.config.norm == Norm::Instance);
}

TEST_CASE("tfjs export: weights in 16 and 8 bits compute nearly the same") {
  const ScratchFolder folder;
  const auto model = exported(small_config(Activation::Relu, Norm::Batch));
  const auto whole = exporting::export_tfjs(model, DType::F32, folder / "f32");
  const auto half = exporting::export_tfjs(model, DType::F16, folder / "f16");
  const auto small = exporting::export_tfjs(model, DType::U8, folder / "u8");
  CHECK(whole.difference < 1e-5);
  CHECK(half.difference > whole.difference);
  CHECK(half.difference < 2e-3);
  CHECK(small.difference > half.difference);
  CHECK(small.difference < 0.1);
  const auto size = [&](const char* name) {
    return std::filesystem::file_size(folder / name / "model.bin");
  };
  CHECK(size("f16") * 2 == size("f32"));
  CHECK(size("u8") * 4 == size("f32"));
}

TEST_CASE("tfjs export: steps that a layers model lacks are refused, and nothing is left") {
  const ScratchFolder folder;
  const auto refused = [&](const meshnet::MeshNetConfig& config,
                           const meshnet::GraphOptions& options) {
    const auto text = refusal_of(ErrorKind::Usage, [&] {
      exporting::export_tfjs(exported(config, options), DType::F32, folder / "m");
    });
    CHECK_FALSE(std::filesystem::exists(folder / "m"));
    return text;
  };
  const auto usual = small_config(Activation::Relu, Norm::Batch);
  CHECK(test::contains(refused(small_config(Activation::GeluTanh, Norm::Batch), {}), "gelu_tanh"));
  CHECK(test::contains(refused(usual, {.fold = false}), "--no-fold"));
  CHECK(test::contains(refused(usual, {.head = meshnet::GraphHead::Labels}), "--head logits"));
  CHECK(test::contains(refused(usual, {.min_max = true}), "--min-max"));
  CHECK(test::contains(refused(usual, {.resize = {8, 8, 8}}), "--resize"));
}

TEST_CASE("tfjs export: a folder is kept only if its output equals the model's") {
  const ScratchFolder folder;
  auto model = exported(small_config(Activation::Relu, Norm::Batch));
  std::get<engine::GraphConv>(model.graph.steps[2].op).dilation += 1;
  CHECK(test::contains(refusal_of(ErrorKind::Parity,
                                  [&] { exporting::export_tfjs(model, DType::F32, folder / "m"); }),
                       "Nothing was kept"));
  CHECK_FALSE(std::filesystem::exists(folder / "m"));
}

TEST_CASE("tfjs export: notes that were changed after the export are detected") {
  const ScratchFolder folder;
  exporting::export_tfjs(exported(small_config(Activation::Relu, Norm::Batch)), DType::F32,
                         folder / "m");
  auto text = read_file(folder / "m/model.json");
  const auto at = text.find("\\\"channels\\\":5");
  REQUIRE(at != std::string::npos);
  write_file(folder / "m/model.json", text.replace(at, 14, "\\\"channels\\\":6"));
  CHECK(test::contains(refusal_of(ErrorKind::Input, [&] { meshnet::load_any(folder / "m"); }),
                       "another network"));
}

TEST_CASE("tfjs export: sidecar_files say labels, colours and BrainChop's settings") {
  auto config = meshnet::preset("meshnet-26");
  auto files = meshnet::brainchop_sidecar_files(config, "m18.tfjs");
  const auto colours = parse_json(files.at("colormap.json"), "colormap.json");
  CHECK(colours["labels"] == Json::parse(R"(["background","lesion"])"));
  CHECK(colours["R"].size() == 2);
  CHECK(parse_json(files.at("labels.json"), "labels.json")["1"] == "lesion");
  const auto entry = parse_json(files.at("brainchop.json"), "brainchop.json");
  CHECK(entry["path"] == "/models/m18.tfjs/model.json");
  CHECK(entry["colormapPath"] == "/models/m18.tfjs/colormap.json");
  CHECK(entry["modelName"] == "m18.tfjs");
  CHECK(entry["enableTranspose"] == true);
  CHECK(entry["enableSeqConv"] == true);
  CHECK(entry["cropPadding"] == 61);
  config.channels = 5;
  config.preprocessing.shape = {128, 128, 128};
  files = meshnet::brainchop_sidecar_files(config, "m18.tfjs");
  CHECK(parse_json(files.at("brainchop.json"), "brainchop.json")["enableSeqConv"] == false);
}

TEST_CASE("tfjs export: sidecar files are told the folder's name, however the path is written") {
  const auto config = test::small_config(meshnet::Activation::Relu, meshnet::Norm::Batch);
  meshnet::MeshNetModel model(test::random_file(config));
  const test::ScratchFolder folder;
  for (const auto* path : {"plain", "slash/", "deep/../other"}) {
    auto exported = meshnet::graph_export(model, {});
    std::string told;
    exported.sidecar_files = [&](const std::string& name) {
      told = name;
      return std::map<std::string, std::string>{};
    };
    exporting::export_tfjs(exported, DType::F32, folder / path);
    CHECK(told ==
          std::string_view(path).substr(std::string_view(path).starts_with("deep") ? 8 : 0, 5));
  }
}
