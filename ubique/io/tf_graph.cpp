// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/tf_graph.h"

#include "ubique/base/error.h"
#include "ubique/base/file.h"
#include "ubique/io/magic.h"
#include "ubique/io/protobuf.h"
#include "ubique/io/tf_graph_tensor.h"
#include "ubique/io/utf8.h"

namespace ubique::io {
namespace {

using Message = std::span<const std::byte>;

// Fields of the messages: GraphDef, its library's FunctionDef, NodeDef, its attributes (a map's
// entries), AttrValue; and SavedModel's MetaGraphDef.
constexpr int kNodeField = 1, kLibraryField = 2, kFunctionField = 1, kFunctionNodeField = 3;
constexpr int kNameField = 1, kOpField = 2, kAttributeField = 5, kKeyField = 1, kValueField = 2;
constexpr int kSwitchField = 5, kTensorField = 8;
constexpr int kMetaGraphField = 2, kMetaGraphDefField = 2;

// What lists of values that repeat their last may grow to, beside the file itself.
constexpr std::uint64_t kMostRepeated = 64U << 20U;

class GraphReader {
 public:
  GraphReader(const std::string& file, const TensorFilter& wanted) : file_(file), wanted_(wanted) {}

  /// A SavedModel begins with a number (its version) where a graph has its first node.
  TfGraph read(Message message) {
    ProtoReader reader(message, file_);
    const auto first = reader.next();
    if (first && first->number == 1 && first->kind == ProtoField::Kind::Integer) {
      while (const auto field = reader.next()) {
        if (field->number == kMetaGraphField) read_meta_graph(field->bytes);
      }
    } else {
      read_graph(message);
    }
    check(!graph_.nodes.empty(), ErrorKind::Input,
          "[io.tf_graph] {} is no TensorFlow graph; got no nodes, expected a frozen .pb or "
          "saved_model.pb.",
          file_);
    return std::move(graph_);
  }

 private:
  void read_meta_graph(Message message) {
    ProtoReader reader(message, file_);
    while (const auto field = reader.next()) {
      if (field->number == kMetaGraphDefField) read_graph(field->bytes);
    }
  }

  void read_graph(Message message) {
    ProtoReader reader(message, file_);
    while (const auto field = reader.next()) {
      if (field->number == kNodeField) read_node(field->bytes);
      if (field->number == kLibraryField) read_library(field->bytes);
    }
  }

  void read_library(Message message) {
    ProtoReader reader(message, file_);
    while (const auto field = reader.next()) {
      if (field->number != kFunctionField) continue;
      ProtoReader function(field->bytes, file_);
      while (const auto inner = function.next()) {
        if (inner->number == kFunctionNodeField) read_node(inner->bytes);
      }
    }
  }

  std::string text_of(const ProtoField& field) const {
    check(is_utf8(field.text()), ErrorKind::Input,
          "[io.tf_graph] {} is damaged or of another format; got a name that is no UTF-8.", file_);
    return std::string(field.text());
  }

  void read_node(Message message) {
    TfNode node;
    Message tensor;
    ProtoReader reader(message, file_);
    while (const auto field = reader.next()) {
      if (field->number == kNameField) node.name = text_of(*field);
      if (field->number == kOpField) node.op = text_of(*field);
      if (field->number == kAttributeField) read_attribute(field->bytes, node, tensor);
    }
    if (node.op == "Const") {
      const bool values = !wanted_ || wanted_(node.name);
      if (auto constant = parse_tf_tensor(tensor, node.name, values, room_, file_)) {
        graph_.constants.push_back(std::move(*constant));
      }
    }
    graph_.nodes.push_back(std::move(node));
  }

  void read_attribute(Message message, TfNode& node, Message& tensor) const {
    std::string key;
    Message value;
    ProtoReader reader(message, file_);
    while (const auto field = reader.next()) {
      if (field->number == kKeyField) key = text_of(*field);
      if (field->number == kValueField) value = field->bytes;
    }
    ProtoReader inner(value, file_);
    while (const auto field = inner.next()) {
      if (field->number == kSwitchField) node.switches[key] = field->value != 0;
      if (field->number == kTensorField && key == "value") tensor = field->bytes;
    }
  }

  const std::string& file_;
  const TensorFilter& wanted_;
  std::uint64_t room_ = kMostRepeated;
  TfGraph graph_;
};

}  // namespace

TfGraph parse_tf_graph(std::span<const std::byte> file, const std::string& name,
                       const TensorFilter& wanted) {
  const auto known = looks_like(file);
  check(known.empty(), ErrorKind::Input,
        "[io.tf_graph] {} is no TensorFlow graph; this looks like {}.", name, known);
  return GraphReader(name, wanted).read(file);
}

TfGraph read_tf_graph(const std::filesystem::path& path, const TensorFilter& wanted) {
  const MappedFile file(path);
  return parse_tf_graph(file.bytes(), path.string(), wanted);
}

}  // namespace ubique::io
