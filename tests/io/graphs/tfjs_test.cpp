// SPDX-License-Identifier: Apache-2.0
// TensorFlow.js layers models: layers, weights, quantised weights, and refused files.
#include <doctest/doctest.h>

#include <cstring>
#include <map>

#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "ubique/base/files/file.h"
#include "ubique/io/graphs/tfjs.h"

using namespace ubique;
namespace fs = std::filesystem;
using test::contains;

namespace {

Json layer(const std::string& kind, const std::string& name, const std::string& input) {
  Json json = {{"class_name", kind}, {"config", {{"name", name}}}, {"name", name}};
  json["inbound_nodes"] = Json::array();
  if (!input.empty()) json["inbound_nodes"] = Json::parse("[[[\"" + input + "\",0,0,{}]]]");
  return json;
}

Json weight(const std::string& name, const std::vector<Json>& shape,
            const std::string& dtype = "float32") {
  return {{"name", name}, {"shape", shape}, {"dtype", dtype}};
}

/// Two layers, and the groups of weights that are given.
Json document_of(const Json& manifest) {
  const Json config = {{"layers", Json::array({layer("InputLayer", "input", ""),
                                               layer("Conv3D", "output", "input")})}};
  return {{"format", "layers-model"},
          {"modelTopology", {{"model_config", {{"class_name", "Functional"}, {"config", config}}}}},
          {"weightsManifest", manifest}};
}

Json group(const std::vector<std::string>& paths, const std::vector<Json>& weights) {
  return {{"paths", paths}, {"weights", weights}};
}

using Files = std::map<std::string, std::string>;

io::TfjsModel parse(const Json& document, const Files& files) {
  return io::parse_tfjs(document.dump(), "model.json", [&](const std::string& name) {
    const auto bytes = test::bytes_of(files.at(name));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  });
}

std::string refusal(const Json& document, const Files& files = {{"model.bin", ""}}) {
  return test::refusal_of(ErrorKind::Input, [&] { parse(document, files); });
}

std::vector<float> floats_of(const io::HostTensor& tensor) {
  REQUIRE(tensor.dtype == DType::F32);
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

}  // namespace

TEST_CASE("tfjs: layers come in order, each with its inputs") {
  const auto model = parse(document_of(Json::array()), {});
  REQUIRE(model.layers.size() == 2);
  CHECK(model.layers[0].class_name == "InputLayer");
  CHECK(model.layers[0].inputs.empty());
  CHECK(model.layers[1].name == "output");
  CHECK(model.layers[1].inputs == std::vector<std::string>{"input"});
  CHECK(model.layers[1].config["name"] == "output");
  CHECK(model.document["format"] == "layers-model");

  const auto plain = Json::parse(R"({"modelTopology": {"class_name": "Sequential", "config": [
      {"class_name": "Dense", "config": {"name": "a"}},
      {"class_name": "Dense", "config": {"name": "b"}}]}, "weightsManifest": []})");
  const auto sequential = parse(plain, {});
  REQUIRE(sequential.layers.size() == 2);
  CHECK(sequential.layers[0].inputs.empty());
  CHECK(sequential.layers[1].inputs == std::vector<std::string>{"a"});
}

TEST_CASE("tfjs: weights are concatenated across files and groups") {
  const auto manifest =
      Json::array({group({"a.bin", "b.bin"}, {weight("c/kernel", {1, 2}), weight("c/bias", {})}),
                   group({"c.bin"}, {weight("d/steps", {1}, "int32"), weight("d/flag", {2}, "bool"),
                                     weight("d/none", {0, 3})})});
  const auto model =
      parse(document_of(manifest), {{"a.bin", "0123456"}, {"b.bin", "789ab"}, {"c.bin", "wxyz01"}});
  REQUIRE(model.weights.size() == 5);
  CHECK(test::text_of(model.find("c/kernel")->bytes) == "01234567");
  CHECK(test::text_of(model.find("c/bias")->bytes) == "89ab");
  CHECK(model.find("c/bias")->shape.empty());
  CHECK(model.find("d/steps")->dtype == DType::I32);
  CHECK(test::text_of(model.find("d/flag")->bytes) == "01");
  CHECK(model.find("d/none")->bytes.empty());
  CHECK(model.find("e") == nullptr);
}

TEST_CASE("tfjs: quantised weights are expanded") {
  auto bytes = weight("a", {3});
  bytes["quantization"] = {{"dtype", "uint8"}, {"scale", 0.1}, {"min", -1.5}};
  auto words = weight("b", {2});
  words["quantization"] = {{"dtype", "uint16"}, {"scale", 0.5}, {"min", 1}};
  auto halves = weight("c", {2});
  halves["quantization"] = {{"dtype", "float16"}};
  const auto model = parse(document_of(Json::array({group({"w"}, {bytes, words, halves})})),
                           {{"w", std::string("\x00\x01\xff"
                                              "\x02\x00\xff\xff"
                                              "\x00\x3c\x00\xc1",
                                              11)}});
  CHECK(floats_of(*model.find("a")) == std::vector<float>{-1.5F, static_cast<float>(1 * 0.1 - 1.5),
                                                          static_cast<float>(255 * 0.1 - 1.5)});
  CHECK(floats_of(*model.find("b")) == std::vector<float>{2, 32768.5F});
  CHECK(floats_of(*model.find("c")) == std::vector<float>{1, -2.5F});
}

TEST_CASE("tfjs: graph models are refused with what to do, other documents by what they lack") {
  auto graph = document_of(Json::array());
  graph["format"] = "graph-model";
  CHECK(contains(refusal(graph),
                 "is a graph model, which BrainChop cannot load either; expected a "
                 "layers model. Export the network as a layers model"));
  const Json nodes = {{"modelTopology", {{"node", Json::array()}}}};
  CHECK(contains(refusal(nodes), "is a graph model"));
  auto other = document_of(Json::array());
  other["format"] = "onnx";
  CHECK(contains(refusal(other), "got \"onnx\" as its format"));
  CHECK(contains(refusal(Json::array()), "got array, expected an object"));
  CHECK(contains(refusal(Json::object()), "has no 'modelTopology' of the right kind; got none"));
  auto no_weights = document_of(Json::array());
  no_weights.erase("weightsManifest");
  CHECK(contains(refusal(no_weights), "has no 'weightsManifest'"));
  const auto error = test::refusal_of(ErrorKind::Input, [] {
    io::parse_tfjs("{", "model.json", [](const std::string&) { return std::vector<std::byte>(); });
  });
  CHECK(contains(error, "model.json is not JSON"));
}

TEST_CASE("tfjs: layers that do not fit together are refused") {
  const auto with = [](const Json& layers) {
    auto document = document_of(Json::array());
    document["modelTopology"]["model_config"]["config"]["layers"] = layers;
    return refusal(document);
  };
  CHECK(contains(with(Json::array()), "has no layers"));
  CHECK(contains(with(Json::array({1})), "layer 0 has no 'class_name'"));
  CHECK(
      contains(with(Json::array({layer("Conv3D", "a", "b")})), "takes 'b'; expected a layer that"));
  CHECK(contains(with(Json::array({layer("Conv3D", "a", ""), layer("Conv3D", "a", "")})),
                 "layer 'a' is there twice"));
  auto twice = layer("Conv3D", "a", "");
  twice["inbound_nodes"] = Json::parse("[[],[]]");
  CHECK(contains(with(Json::array({twice})), "is used 2 times"));
  twice["inbound_nodes"] = Json::parse(R"([{"args":[]}])");
  CHECK(contains(with(Json::array({twice})), "not written as Keras 2 does"));
}

TEST_CASE("tfjs: inconsistent weights are refused") {
  const auto with = [](const std::vector<Json>& list) {
    return refusal(document_of(Json::array({group({"model.bin"}, list)})),
                   {{"model.bin", "01234567"}});
  };
  CHECK(contains(with({weight("a", {3})}),
                 "past the end of its files; got 8 bytes left, expected 12"));
  CHECK(contains(with({weight("a", {1})}), "got 4 bytes that belong to no weight"));
  CHECK(contains(with({weight("a", {1}), weight("a", {1})}), "two weights have the name 'a'"));
  CHECK(contains(with({weight("a", {-1})}), "whole numbers from 0"));
  CHECK(contains(with({weight("a", {1.5})}), "whole numbers from 0"));
  CHECK(contains(with({weight("a", {1ULL << 63U})}), "whole numbers from 0"));
  CHECK(contains(with({weight("a", {1LL << 40U, 1LL << 40U})}), "expected far more"));
  CHECK(contains(with({weight("a", {1}, "string")}), "unknown dtype; got 'string'"));
  auto odd = weight("a", {8});
  odd["quantization"] = {{"dtype", "uint8"}, {"scale", "1"}, {"min", 0}};
  CHECK(contains(with({odd}), "is quantised without 'scale'"));
  odd["quantization"] = {{"dtype", "int4"}};
  CHECK(contains(with({odd}), "unknown dtype; got 'int4'"));
  odd["dtype"] = "int32";
  odd["quantization"] = {{"dtype", "float16"}};
  CHECK(contains(with({odd}), "is quantised from i32"));
}

TEST_CASE("tfjs: weight files outside of the folder are never opened") {
  for (const std::string path : {"../secret", "/etc/passwd", "a/b.bin", "..", "", "a\\b"}) {
    CAPTURE(path);
    const auto error = refusal(document_of(Json::array({group({path}, {})})));
    CHECK(contains(error, "a weight file is not plainly named; got '"));
  }
  const auto twice = group({"model.bin", "model.bin"}, {});
  CHECK(contains(refusal(document_of(Json::array({twice}))),
                 "names the weight file 'model.bin' twice"));
  const test::ScratchFolder folder;
  const auto missing = document_of(Json::array({group({"gone.bin"}, {})}));
  write_file(folder / "model.json", missing.dump());
  CHECK(contains(test::refusal_of(ErrorKind::Input, [&] { io::read_tfjs(folder.path()); }),
                 "gone.bin is missing; expected it beside model.json"));
}

TEST_CASE("tfjs: what is written is read back, from the folder and from the JSON file") {
  const test::ScratchFolder folder;
  const auto bytes = [](const char* text) {
    const auto view = test::bytes_of(text);
    return std::vector<std::byte>(view.begin(), view.end());
  };
  const std::vector<io::TfjsWeight> weights = {
      {{"a/kernel", DType::F32, {1, 2}, bytes("01234567")}},
      {{"a/bias", DType::F16, {1}, {std::byte{0}, std::byte{0x3c}}}},
      {{"a/steps", DType::I32, {}, bytes("abcd")}},
      {{"a/flags", DType::Bool, {2}, bytes("\1\1")}},
      {{"a/small", DType::U8, {2}, {std::byte{0}, std::byte{4}}}, io::TfjsScale{0.5, -1}}};
  io::write_tfjs(folder / "new", document_of(Json::array()), weights);
  CHECK(fs::file_size(folder / "new" / "model.bin") == 18);
  for (const auto& path : {folder / "new", folder / "new" / "model.json"}) {
    const auto model = io::read_tfjs(path);
    REQUIRE(model.weights.size() == 5);
    CHECK(model.weights[0].bytes == weights[0].tensor.bytes);
    CHECK(floats_of(model.weights[1]) == std::vector<float>{1});
    CHECK(model.weights[2].dtype == DType::I32);
    CHECK(model.weights[3].bytes == weights[3].tensor.bytes);
    CHECK(floats_of(model.weights[4]) == std::vector<float>{-1, 1});
    CHECK(model.layers.size() == 2);
  }
  const io::TfjsWeight wide{{"a", DType::F64, {1}, std::vector<std::byte>(8)}};
  CHECK(contains(
      test::refusal_of(ErrorKind::Input,
                       [&] {
                         io::write_tfjs(folder / "wide", document_of(Json::array()), {&wide, 1});
                       }),
      "no type for weight 'a'; got f64"));
  CHECK_FALSE(fs::exists(folder / "wide"));
}

TEST_CASE("tfjs: the networks that BrainChop ships are read, and written byte by byte") {
  const auto models =
      fs::path(UBIQUE_SOURCE_DIR) / ".." / "shared" / "data" / "brainchop" / "models";
  if (!fs::exists(models)) {
    MESSAGE("skipped: no ", models.string());
    return;
  }
  const test::ScratchFolder folder;
  int count = 0;
  for (const auto& found : fs::directory_iterator(models)) {
    CAPTURE(found.path().string());
    const auto model = io::read_tfjs(found.path());
    CHECK(model.layers.front().class_name == "InputLayer");
    CHECK(model.layers.back().class_name == "Conv3D");
    CHECK(model.weights.size() == 20);  // ten convolutions
    CHECK(model.weights[0].shape.size() == 5);
    CHECK(model.find(model.layers.back().name + "/bias")->shape == io::Shape{3});
    const auto& group = model.document["weightsManifest"][0];
    const auto raw = found.path() / group["paths"][0].get<std::string>();
    const std::vector<io::TfjsWeight> weights(model.weights.begin(), model.weights.end());
    io::write_tfjs(folder / "copy", model.document, weights);
    CHECK(read_file(folder / "copy" / "model.bin") == read_file(raw));
    CHECK(io::read_tfjs(folder / "copy").document["weightsManifest"][0]["weights"] ==
          group["weights"]);
    ++count;
  }
  CHECK(count > 0);
}
