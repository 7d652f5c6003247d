// SPDX-License-Identifier: Apache-2.0
// Writes an ONNX model, with large weights in a second file.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/archive/protobuf.h"
#include "ubique/io/graphs/onnx.h"
#include "ubique/io/graphs/onnx_format.h"

namespace ubique::io {
namespace {

static_assert(kLittleMachine, "raw tensors are written without a byte swap");

constexpr std::int64_t kExternalAlignment = 4096;  // lets readers map single tensors
constexpr std::size_t kSmallConstant = 1024;       // bytes; smaller ones stay in the model file

int onnx_type(DType dtype) {
  for (const auto& [known, number] : onnx::kTypes) {
    if (known == dtype) return number;
  }
  fail(ErrorKind::Internal, "[io.onnx] no element type for {}.", to_string(dtype));
}

std::string_view raw_text(const HostTensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
}

ProtoWriter entry_message(std::string_view key, std::string_view value) {
  ProtoWriter entry;
  entry.text(onnx::entry::kKey, key);
  entry.text(onnx::entry::kValue, value);
  return entry;
}

ProtoWriter tensor_head(const HostTensor& tensor) {
  ProtoWriter message;
  if (!tensor.shape.empty()) message.integers(onnx::tensor::kShape, tensor.shape);
  message.integer(onnx::tensor::kType, onnx_type(tensor.dtype));
  if (!tensor.name.empty()) message.text(onnx::tensor::kName, tensor.name);
  return message;
}

ProtoWriter tensor_message(const HostTensor& tensor) {
  auto message = tensor_head(tensor);
  message.text(onnx::tensor::kRaw, raw_text(tensor));
  return message;
}

/// The file of external weights.
class ExternalFile {
 public:
  explicit ExternalFile(const std::filesystem::path& path) : path_(path), file_(path) {}

  ProtoWriter add(const HostTensor& tensor) {
    const auto offset =
        (file_.size() + kExternalAlignment - 1) / kExternalAlignment * kExternalAlignment;
    file_.write(std::string(static_cast<std::size_t>(offset - file_.size()), '\0'));
    file_.write(raw_text(tensor));
    auto message = tensor_head(tensor);
    const auto add_entry = [&](std::string_view key, std::string_view value) {
      message.message(onnx::tensor::kExternal, entry_message(key, value));
    };
    add_entry("location", path_.filename().string());
    add_entry("offset", std::to_string(offset));
    add_entry("length", std::to_string(tensor.bytes.size()));
    message.integer(onnx::tensor::kLocation, onnx::tensor::kInAnotherFile);
    return message;
  }
  void commit() { file_.commit(); }

 private:
  std::filesystem::path path_;
  AtomicFile file_;
};

ProtoWriter value_message(const OnnxValue& value) {
  ProtoWriter shape;
  for (const auto& extent : value.shape) {
    ProtoWriter dimension;
    if (const auto* number = std::get_if<std::int64_t>(&extent)) {
      dimension.integer(onnx::value::kNumber, *number);
    } else {
      dimension.text(onnx::value::kParameter, std::get<std::string>(extent));
    }
    shape.message(onnx::value::kExtent, dimension);
  }
  ProtoWriter tensor, type, message;
  tensor.integer(onnx::value::kElement, onnx_type(value.dtype));
  tensor.message(onnx::value::kShape, shape);
  type.message(onnx::value::kTensorType, tensor);
  message.text(onnx::value::kName, value.name);
  message.message(onnx::value::kType, type);
  return message;
}

ProtoWriter attribute_message(const std::string& name, const OnnxAttribute& value) {
  namespace at = onnx::attribute;
  ProtoWriter message;
  message.text(at::kName, name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    message.integer(at::kInteger, *integer);
    message.integer(at::kKind, at::Integer);
  } else if (const auto* real = std::get_if<float>(&value)) {
    message.real(at::kReal, *real);
    message.integer(at::kKind, at::Real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    message.text(at::kText, *text);
    message.integer(at::kKind, at::Text);
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
    message.integers(at::kIntegers, *integers);
    message.integer(at::kKind, at::Integers);
  } else if (const auto* reals = std::get_if<std::vector<float>>(&value)) {
    message.reals(at::kReals, *reals);
    message.integer(at::kKind, at::Reals);
  } else {
    message.message(at::kTensor, tensor_message(std::get<HostTensor>(value)));
    message.integer(at::kKind, at::Tensor);
  }
  return message;
}

ProtoWriter node_message(const OnnxNode& node) {
  ProtoWriter message;
  for (const auto& input : node.inputs) message.text(onnx::node::kInput, input);
  for (const auto& output : node.outputs) message.text(onnx::node::kOutput, output);
  if (!node.name.empty()) message.text(onnx::node::kName, node.name);
  message.text(onnx::node::kOp, node.op);
  for (const auto& [name, value] : node.attributes) {
    message.message(onnx::node::kAttribute, attribute_message(name, value));
  }
  return message;
}

ProtoWriter graph_message(const OnnxModel& model, ExternalFile* external) {
  ProtoWriter graph;
  for (const auto& node : model.nodes) graph.message(onnx::graph::kNode, node_message(node));
  graph.text(onnx::graph::kName, model.name);
  for (const auto& tensor : model.constants) {
    const bool outside = external != nullptr && tensor.bytes.size() > kSmallConstant;
    graph.message(onnx::graph::kConstant, outside ? external->add(tensor) : tensor_message(tensor));
  }
  for (const auto& value : model.inputs) graph.message(onnx::graph::kInput, value_message(value));
  for (const auto& value : model.outputs) graph.message(onnx::graph::kOutput, value_message(value));
  return graph;
}

std::string model_bytes(const OnnxModel& model, ExternalFile* external) {
  ProtoWriter message, opset;
  message.integer(onnx::model::kIrVersion, model.ir_version);
  if (!model.producer.empty()) message.text(onnx::model::kProducer, model.producer);
  if (!model.producer_version.empty()) {
    message.text(onnx::model::kProducerVersion, model.producer_version);
  }
  message.message(onnx::model::kGraph, graph_message(model, external));
  opset.text(onnx::opset::kDomain, "");
  opset.integer(onnx::opset::kVersion, model.opset);
  message.message(onnx::model::kOpset, opset);
  for (const auto& [key, value] : model.metadata) {
    message.message(onnx::model::kMetadata, entry_message(key, value));
  }
  return message.bytes();
}

}  // namespace

std::string onnx_bytes(const OnnxModel& model) {
  check_tensors(model.constants, "io.onnx");
  return model_bytes(model, nullptr);
}

void write_onnx(const std::filesystem::path& path, const OnnxModel& model,
                const OnnxWriteOptions& options) {
  check_tensors(model.constants, "io.onnx");
  std::int64_t weights = 0;
  for (const auto& tensor : model.constants) {
    weights += static_cast<std::int64_t>(tensor.bytes.size());
  }
  if (weights <= options.most_bytes) return write_file(path, onnx_bytes(model));
  auto beside = path;
  beside += ".data";
  ExternalFile external(beside);
  const auto bytes = model_bytes(model, &external);
  external.commit();
  write_file(path, bytes);
}

}  // namespace ubique::io
