// SPDX-License-Identifier: Apache-2.0
// Parses an ONNX model: graph, nodes, attributes, inputs and outputs.
#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/archive/protobuf.h"
#include "ubique/io/graphs/onnx.h"
#include "ubique/io/graphs/onnx_format.h"
#include "ubique/io/graphs/onnx_tensor.h"

namespace ubique::io {
namespace {

/// Parses the messages of one file; keeps its name for errors and the access to external weights.
class OnnxParser {
 public:
  OnnxParser(std::string file, OnnxFiles files)
      : file_(std::move(file)), files_(std::move(files)) {}

  OnnxModel model(std::span<const std::byte> bytes) const {
    OnnxModel model;
    model.ir_version = model.opset = 0;
    bool has_graph = false;
    each(bytes, [&](const ProtoField& field) {
      if (field.number == onnx::model::kIrVersion) model.ir_version = integer(field);
      if (field.number == onnx::model::kProducer) model.producer = field.text();
      if (field.number == onnx::model::kProducerVersion) model.producer_version = field.text();
      if (field.number == onnx::model::kMetadata)
        model.metadata.insert(parse_onnx_entry(field.bytes, file_));
      if (field.number == onnx::model::kOpset) add_opset(field.bytes, model);
      if (field.number == onnx::model::kGraph) {
        has_graph = true;
        read_graph(field.bytes, model);
      }
    });
    check(has_graph && model.ir_version > 0 && model.opset > 0, ErrorKind::Input,
          "[io.onnx] {} is no ONNX file; expected a version, a set of operators and a graph.",
          file_);
    return model;
  }

 private:
  template <typename Visit>
  void each(std::span<const std::byte> bytes, const Visit& visit) const {
    ProtoReader reader(bytes, file_);
    while (const auto field = reader.next()) visit(*field);
  }

  static std::int64_t integer(const ProtoField& field) {
    return static_cast<std::int64_t>(field.value);
  }

  void add_opset(std::span<const std::byte> bytes, OnnxModel& model) const {
    std::string domain;
    std::int64_t version = 0;
    each(bytes, [&](const ProtoField& field) {
      if (field.number == onnx::opset::kDomain) domain = field.text();
      if (field.number == onnx::opset::kVersion) version = integer(field);
    });
    if (domain.empty() || domain == "ai.onnx") model.opset = version;
  }

  void read_graph(std::span<const std::byte> bytes, OnnxModel& model) const {
    each(bytes, [&](const ProtoField& field) {
      if (field.number == onnx::graph::kName) model.name = field.text();
      if (field.number == onnx::graph::kNode) model.nodes.push_back(node(field.bytes));
      if (field.number == onnx::graph::kInput) model.inputs.push_back(value(field.bytes));
      if (field.number == onnx::graph::kOutput) model.outputs.push_back(value(field.bytes));
      if (field.number == onnx::graph::kConstant) {
        model.constants.push_back(parse_onnx_tensor(field.bytes, file_, files_));
      }
    });
    // Files before IR version 4 list their weights among the inputs too.
    std::erase_if(model.inputs,
                  [&](const OnnxValue& input) { return model.constant(input.name) != nullptr; });
  }

  OnnxNode node(std::span<const std::byte> bytes) const {
    OnnxNode node;
    std::string domain;
    each(bytes, [&](const ProtoField& field) {
      if (field.number == onnx::node::kInput) node.inputs.emplace_back(field.text());
      if (field.number == onnx::node::kOutput) node.outputs.emplace_back(field.text());
      if (field.number == onnx::node::kName) node.name = field.text();
      if (field.number == onnx::node::kOp) node.op = field.text();
      if (field.number == onnx::node::kDomain) domain = field.text();
      if (field.number == onnx::node::kAttribute) node.attributes.insert(attribute(field.bytes));
    });
    check(domain.empty() || domain == "ai.onnx", ErrorKind::Input,
          "[io.onnx] {}: the operator {} is not of ONNX itself; got the domain '{}'. Export it "
          "without extensions.",
          file_, printable(node.op, 40), printable(domain, 40));
    return node;
  }

  std::pair<std::string, OnnxAttribute> attribute(std::span<const std::byte> bytes) const {
    namespace at = onnx::attribute;
    std::string name;
    OnnxAttribute value;
    std::vector<float> reals;
    std::vector<std::int64_t> integers;
    std::uint64_t kind = 0;
    each(bytes, [&](const ProtoField& field) {
      if (field.number == at::kName) name = field.text();
      if (field.number == at::kKind) kind = field.value;
      if (field.number == at::kReal) value = field.real();
      if (field.number == at::kInteger) value = integer(field);
      if (field.number == at::kText) value = std::string(field.text());
      if (field.number == at::kTensor) value = parse_onnx_tensor(field.bytes, file_, files_);
      if (field.number == at::kReals) add_reals(field, reals);
      if (field.number == at::kIntegers) add_integers(field, integers);
      check(
          field.number != at::kGraph, ErrorKind::Input,
          "[io.onnx] {}: an operator has a graph of its own in it ('{}'); expected a plain chain.",
          file_, printable(name, 40));
    });
    if (kind == at::Integers || (kind == 0 && !integers.empty())) value = std::move(integers);
    if (kind == at::Reals || (kind == 0 && !reals.empty())) value = std::move(reals);
    return {name, std::move(value)};
  }

  void add_reals(const ProtoField& field, std::vector<float>& out) const {
    if (field.kind != ProtoField::Kind::Bytes) return out.push_back(field.real());
    for (std::size_t i = 0; i + 4 <= field.bytes.size(); i += 4) {
      ProtoField one;
      one.value = load_little(field.bytes.subspan(i, 4));
      out.push_back(one.real());
    }
  }

  void add_integers(const ProtoField& field, std::vector<std::int64_t>& out) const {
    if (field.kind != ProtoField::Kind::Bytes) return out.push_back(integer(field));
    ProtoReader reader(field.bytes, file_);
    while (const auto value = reader.next_integer()) {
      out.push_back(static_cast<std::int64_t>(*value));
    }
  }

  OnnxValue value(std::span<const std::byte> bytes) const {
    OnnxValue value;
    each(bytes, [&](const ProtoField& field) {
      if (field.number == onnx::value::kName) value.name = field.text();
      if (field.number != onnx::value::kType) return;
      each(field.bytes, [&](const ProtoField& type) {
        if (type.number == onnx::value::kTensorType) read_tensor_type(type.bytes, value);
      });
    });
    return value;
  }

  void read_tensor_type(std::span<const std::byte> bytes, OnnxValue& value) const {
    each(bytes, [&](const ProtoField& field) {
      if (field.number == onnx::value::kElement) value.dtype = onnx_dtype(field.value, file_);
      if (field.number != onnx::value::kShape) return;
      each(field.bytes, [&](const ProtoField& extent) {
        if (extent.number == onnx::value::kExtent) value.shape.push_back(dimension(extent.bytes));
      });
    });
  }

  OnnxExtent dimension(std::span<const std::byte> bytes) const {
    OnnxExtent extent = std::string();  // neither number nor name: any size
    each(bytes, [&](const ProtoField& field) {
      if (field.number == onnx::value::kNumber) extent = integer(field);
      if (field.number == onnx::value::kParameter) extent = std::string(field.text());
    });
    return extent;
  }

  std::string file_;
  OnnxFiles files_;
};

std::vector<std::byte> part_of_file(const std::filesystem::path& path, std::int64_t offset,
                                    std::int64_t length) {
  std::error_code ignored;
  check(std::filesystem::is_regular_file(path, ignored), ErrorKind::Input,
        "[io.onnx] the weight file {} is missing; expected it beside the model.", path.string());
  const MappedFile file(path);
  const auto size = static_cast<std::int64_t>(file.bytes().size());
  check(offset <= size && length <= size - offset, ErrorKind::Input,
        "[io.onnx] the weight file {} is too short; got {} bytes, expected {} from {} on.",
        path.string(), size, length, offset);
  const auto part =
      file.bytes().subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
  return {part.begin(), part.end()};
}

}  // namespace

OnnxModel read_onnx(const std::filesystem::path& path) {
  const MappedFile file(path);
  const auto files = [folder = path.parent_path()](const std::string& name, std::int64_t offset,
                                                   std::int64_t length) {
    return part_of_file(folder / name, offset, length);
  };
  return OnnxParser(path.string(), files).model(file.bytes());
}

OnnxModel parse_onnx(std::span<const std::byte> bytes, const std::string& name) {
  const auto files = [&](const std::string& file, std::int64_t,
                         std::int64_t) -> std::vector<std::byte> {
    fail(ErrorKind::Input, "[io.onnx] {} takes weights from {}, and there are no files here.", name,
         printable(file, 80));
  };
  return OnnxParser(name, files).model(bytes);
}

}  // namespace ubique::io
