// SPDX-License-Identifier: Apache-2.0
// ONNX files: round trips, every form of tensor storage, and refused files.
#include "ubique/io/graphs/onnx.h"

#include <doctest/doctest.h>

#include <cstring>

#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "ubique/base/files/file.h"
#include "ubique/io/archive/protobuf.h"
#include "ubique/io/graphs/onnx_format.h"

using namespace ubique;
using test::contains;
using test::refusal_of;

namespace {

io::HostTensor floats(const std::string& name, const io::Shape& shape, std::vector<float> values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {name, DType::F32, shape, {bytes.begin(), bytes.end()}};
}

io::OnnxModel sample_model() {
  io::OnnxModel model;
  model.producer = "ubique";
  model.producer_version = "0.1";
  model.metadata = {{"labels", "background,lesion"}};
  model.inputs = {{"input", DType::F32, {std::string("batch"), std::int64_t{1}, std::string("d")}}};
  model.outputs = {{"output", DType::F16, {std::string("batch"), std::int64_t{2}}}};
  io::OnnxNode conv{"Conv", "first", {"input", "w", ""}, {"y"}, {}};
  conv.attributes["dilations"] = std::vector<std::int64_t>{2, 2, 2};
  conv.attributes["group"] = std::int64_t{1};
  conv.attributes["auto_pad"] = std::string("NOTSET");
  io::OnnxNode other{"Any", "", {"y"}, {"output"}, {}};
  other.attributes["alpha"] = 0.5F;
  other.attributes["scales"] = std::vector<float>{1, -2.5F};
  other.attributes["value"] = floats("", {2}, {3, 4});
  other.attributes["minus"] = std::int64_t{-1};
  model.nodes = {conv, other};
  model.constants = {floats("w", {2, 1, 3}, {1, 2, 3, 4, 5, 6}), floats("scalar", {}, {7})};
  return model;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

void check_same_tensor(const io::HostTensor& a, const io::HostTensor& b) {
  CHECK(a.name == b.name);
  CHECK(a.dtype == b.dtype);
  CHECK(a.shape == b.shape);
  CHECK((a.bytes == b.bytes));
}

void check_same(const io::OnnxModel& got, const io::OnnxModel& expected) {
  CHECK(got.opset == expected.opset);
  CHECK(got.ir_version == expected.ir_version);
  CHECK(got.producer == expected.producer);
  CHECK((got.metadata == expected.metadata));
  REQUIRE(got.nodes.size() == expected.nodes.size());
  for (std::size_t i = 0; i < got.nodes.size(); ++i) {
    CHECK(got.nodes[i].op == expected.nodes[i].op);
    CHECK(got.nodes[i].inputs == expected.nodes[i].inputs);
    CHECK(got.nodes[i].outputs == expected.nodes[i].outputs);
    REQUIRE(got.nodes[i].attributes.size() == expected.nodes[i].attributes.size());
    for (const auto& [name, value] : expected.nodes[i].attributes) {
      const auto& found = got.nodes[i].attributes.at(name);
      CHECK(found.index() == value.index());
      if (const auto* tensor = std::get_if<io::HostTensor>(&value)) {
        check_same_tensor(std::get<io::HostTensor>(found), *tensor);
      }
    }
  }
  REQUIRE(got.constants.size() == expected.constants.size());
  for (std::size_t i = 0; i < got.constants.size(); ++i) {
    check_same_tensor(got.constants[i], expected.constants[i]);
  }
  REQUIRE(got.inputs.size() == expected.inputs.size());
  CHECK((got.inputs[0].shape == expected.inputs[0].shape));
  CHECK((got.outputs[0].shape == expected.outputs[0].shape));
  CHECK(got.outputs[0].dtype == expected.outputs[0].dtype);
}

/// A whole file around one tensor's message.
std::string file_with(const io::ProtoWriter& tensor) {
  io::ProtoWriter graph, opset, model;
  graph.message(io::onnx::graph::kConstant, tensor);
  opset.integer(io::onnx::opset::kVersion, 17);
  model.integer(io::onnx::model::kIrVersion, 8);
  model.message(io::onnx::model::kGraph, graph);
  model.message(io::onnx::model::kOpset, opset);
  return model.bytes();
}

io::ProtoWriter tensor_head(std::int64_t type, std::int64_t extent) {
  io::ProtoWriter tensor;
  tensor.integer(io::onnx::tensor::kShape, extent);  // not packed, as old files have it
  tensor.integer(io::onnx::tensor::kType, type);
  tensor.text(io::onnx::tensor::kName, "t");
  return tensor;
}

std::string refusal_of_bytes(const std::string& bytes) {
  return refusal_of(ErrorKind::Input, [&] { io::parse_onnx(bytes_of(bytes), "x.onnx"); });
}

}  // namespace

TEST_CASE("onnx: a model comes back as it was written") {
  const auto model = sample_model();
  const auto again = io::parse_onnx(bytes_of(io::onnx_bytes(model)), "x.onnx");
  check_same(again, model);
  const auto& attributes = again.nodes[1].attributes;
  CHECK(std::get<float>(attributes.at("alpha")) == 0.5F);
  CHECK(std::get<std::int64_t>(attributes.at("minus")) == -1);
  CHECK((std::get<std::vector<float>>(attributes.at("scales")) == std::vector<float>{1, -2.5F}));
}

TEST_CASE("onnx: weights too large for one file go into a second one") {
  const test::ScratchFolder folder;
  auto model = sample_model();
  model.constants.push_back(floats("large", {3000}, std::vector<float>(3000, 1.5F)));
  model.constants.push_back(floats("larger", {4000}, std::vector<float>(4000, -2)));
  io::write_onnx(folder / "m.onnx", model, {.most_bytes = 100});
  CHECK(std::filesystem::file_size(folder / "m.onnx") < 2000);
  CHECK(std::filesystem::file_size(folder / "m.onnx.data") == 12288 + 16000);
  check_same(io::read_onnx(folder / "m.onnx"), model);

  std::filesystem::resize_file(folder / "m.onnx.data", 20000);
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { io::read_onnx(folder / "m.onnx"); }),
                 "m.onnx.data is too short; got 20000 bytes, expected 16000 from 12288 on"));
  std::filesystem::remove(folder / "m.onnx.data");
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { io::read_onnx(folder / "m.onnx"); }),
                 "m.onnx.data is missing"));
}

TEST_CASE("onnx: typed lists are read as well as raw data") {
  auto reals = tensor_head(1, 2);
  reals.reals(io::onnx::tensor::kReals, std::vector<float>{1.5F, -3});
  auto model = io::parse_onnx(bytes_of(file_with(reals)), "x.onnx");
  check_same_tensor(model.constants.at(0), floats("t", {2}, {1.5F, -3}));

  auto halves = tensor_head(10, 1);  // f16 as int32s
  halves.integer(io::onnx::tensor::kInt32s, 0x3C00);
  model = io::parse_onnx(bytes_of(file_with(halves)), "x.onnx");
  CHECK(model.constants.at(0).dtype == DType::F16);
  CHECK((model.constants.at(0).bytes == std::vector<std::byte>{std::byte{0}, std::byte{0x3C}}));

  auto integers = tensor_head(7, 3);
  integers.integers(io::onnx::tensor::kInt64s, std::vector<std::int64_t>{-1, 0, 5});
  model = io::parse_onnx(bytes_of(file_with(integers)), "x.onnx");
  std::int64_t first = 0;
  std::memcpy(&first, model.constants.at(0).bytes.data(), sizeof first);
  CHECK(first == -1);
}

TEST_CASE("onnx: inconsistent tensors are refused") {
  auto shorter = tensor_head(1, 3);
  shorter.text(io::onnx::tensor::kRaw, "abcd");
  CHECK(contains(refusal_of_bytes(file_with(shorter)), "got 4 bytes, expected 12"));
  auto negative = tensor_head(1, -3);
  CHECK(contains(refusal_of_bytes(file_with(negative)), "type or shape is impossible"));
  CHECK(contains(refusal_of_bytes(file_with(tensor_head(8, 1))), "got number 8"));

  auto elsewhere = tensor_head(1, 1);
  io::ProtoWriter entry;
  entry.text(io::onnx::entry::kKey, "location");
  entry.text(io::onnx::entry::kValue, "../secret");
  elsewhere.message(io::onnx::tensor::kExternal, entry);
  elsewhere.integer(io::onnx::tensor::kLocation, io::onnx::tensor::kInAnotherFile);
  CHECK(contains(refusal_of_bytes(file_with(elsewhere)), "not plainly named; got '../secret'"));
}

TEST_CASE("onnx: operators of other domains and with graphs in them are refused") {
  io::ProtoWriter node, inner, attribute, graph, model;
  node.text(io::onnx::node::kOp, "FusedConv");
  node.text(io::onnx::node::kDomain, "com.microsoft");
  graph.message(io::onnx::graph::kNode, node);
  model.message(io::onnx::model::kGraph, graph);
  CHECK(contains(refusal_of_bytes(model.bytes()), "FusedConv is not of ONNX itself"));

  io::ProtoWriter branch, outer, file;
  attribute.text(io::onnx::attribute::kName, "then_branch");
  attribute.message(io::onnx::attribute::kGraph, inner);
  branch.text(io::onnx::node::kOp, "If");
  branch.message(io::onnx::node::kAttribute, attribute);
  outer.message(io::onnx::graph::kNode, branch);
  file.message(io::onnx::model::kGraph, outer);
  CHECK(contains(refusal_of_bytes(file.bytes()), "a graph of its own"));
}

TEST_CASE("onnx: what is something else or cut off is refused") {
  CHECK(contains(refusal_of_bytes(""), "is no ONNX file"));
  CHECK(contains(refusal_of_bytes("<!DOCTYPE html><html></html>"), "x.onnx"));
  const auto whole = io::onnx_bytes(sample_model());
  int refused = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    try {
      io::parse_onnx(bytes_of(whole.substr(0, length)), "x.onnx");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::Input);
      ++refused;
    }
  }
  CHECK(refused > static_cast<int>(whole.size()) * 9 / 10);
}
