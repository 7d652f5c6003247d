// SPDX-License-Identifier: Apache-2.0
// Parses TensorProto constants, GraphDef and SavedModel.
#include "ubique/io/graphs/tf_graph.h"

#include <optional>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/archive/protobuf.h"

namespace ubique::io {
namespace {

// Fields of TensorProto, TensorShapeProto and its Dim.
constexpr int kTypeField = 1, kShapeField = 2, kContentField = 4, kFloatField = 5, kDoubleField = 6,
              kIntField = 7, kInt64Field = 10, kBoolField = 11, kHalfField = 13;
constexpr int kDimField = 2, kSizeField = 1, kUnknownRankField = 3;

struct TfTypeRow {
  std::uint64_t number;
  DType dtype;
  int values;  // the field with the list of values
};

constexpr TfTypeRow kTfTypes[] = {
    {1, DType::F32, kFloatField}, {2, DType::F64, kDoubleField}, {3, DType::I32, kIntField},
    {4, DType::U8, kIntField},    {5, DType::I16, kIntField},    {6, DType::I8, kIntField},
    {9, DType::I64, kInt64Field}, {10, DType::Bool, kBoolField}, {14, DType::BF16, kHalfField},
    {17, DType::U16, kIntField},  {19, DType::F16, kHalfField},
};

const TfTypeRow* type_row(std::uint64_t number) {
  for (const auto& row : kTfTypes) {
    if (row.number == number) return &row;
  }
  return nullptr;
}

/// One constant (TensorProto): type, shape, and raw bytes or a list whose last value is repeated.
class TfTensorReader {
 public:
  TfTensorReader(const std::string& name, const std::string& file) : name_(name), file_(file) {}

  void read(std::span<const std::byte> message) {
    ProtoReader reader(message, file_);
    while (const auto field = reader.next()) {
      if (field->number == kTypeField) type_ = type_row(field->value);
      if (field->number == kShapeField) read_shape(field->bytes);
      if (field->number == kContentField) content_ = field->bytes;
    }
    if (type_ == nullptr) return;
    ProtoReader again(message, file_);  // the type, which selects the list, may come after it
    while (const auto field = again.next()) {
      if (field->number == type_->values) read_values(*field);
    }
  }

  /// Nothing for types that hold no numbers (texts, resources). `repeat_budget`: bytes that
  /// repeated values may still take; decreases.
  std::optional<HostTensor> make(bool with_values, std::uint64_t& repeat_budget) const {
    if (type_ == nullptr) return std::nullopt;
    const auto bytes = byte_count(type_->dtype, shape_);
    require(bytes.has_value(), "it is larger than 2^63 bytes");
    HostTensor tensor{name_, type_->dtype, shape_, {}};
    if (!with_values) return tensor;
    tensor.bytes = content_.empty() ? from_list(static_cast<std::uint64_t>(*bytes), repeat_budget)
                                    : std::vector<std::byte>(content_.begin(), content_.end());
    require(tensor.bytes.size() == static_cast<std::uint64_t>(*bytes),
            fmt::format("got {} bytes of values, expected {} for the shape {}", tensor.bytes.size(),
                        *bytes, shape_text(shape_)));
    if (!kLittleMachine) swap_byte_order(tensor);
    return tensor;
  }

 private:
  void require(bool condition, std::string_view what) const {
    check(condition, ErrorKind::Input,
          "[io.tf_graph] {}: the constant '{}' cannot be read; {}. Is the file complete?", file_,
          printable(name_), what);
  }

  void read_shape(std::span<const std::byte> message) {
    ProtoReader reader(message, file_);
    shape_.clear();
    while (const auto field = reader.next()) {
      require(field->number != kUnknownRankField || field->value == 0, "its shape is unknown");
      if (field->number != kDimField) continue;
      require(shape_.size() < kMaxTensorDimensions, "it has more than 64 dimensions");
      shape_.push_back(read_extent(field->bytes));
    }
  }

  std::int64_t read_extent(std::span<const std::byte> message) const {
    ProtoReader reader(message, file_);
    std::int64_t extent = 0;
    while (const auto field = reader.next()) {
      if (field->number == kSizeField) extent = static_cast<std::int64_t>(field->value);
    }
    require(extent >= 0, "an extent is negative");
    return extent;
  }

  /// Packed or single values, converted to the width of the dtype.
  void read_values(const ProtoField& field) {
    const auto width = size_of(type_->dtype);
    if (field.kind != ProtoField::Kind::Bytes) return append_little(list_, field.value, width);
    if (type_->values == kFloatField || type_->values == kDoubleField) {
      list_ += field.text();
      return;
    }
    ProtoReader packed(field.bytes, file_);
    while (const auto value = packed.next_integer()) append_little(list_, *value, width);
  }

  /// TensorFlow omits repeated values at the end, so a few bytes can expand to gigabytes.
  std::vector<std::byte> from_list(std::uint64_t bytes, std::uint64_t& repeat_budget) const {
    const auto width = size_of(type_->dtype);
    require(list_.size() % width == 0 && list_.size() <= bytes, "it has more values than elements");
    require(bytes <= repeat_budget, "it repeats a value too often");
    repeat_budget -= bytes;
    const auto values = std::as_bytes(std::span(list_));
    std::vector<std::byte> result(values.begin(), values.end());
    result.reserve(static_cast<std::size_t>(bytes));
    const std::vector<std::byte> zero(width);
    const auto last = values.empty() ? std::span<const std::byte>(zero) : values.last(width);
    while (result.size() < bytes) result.insert(result.end(), last.begin(), last.end());
    return result;
  }

  const std::string &name_, &file_;
  const TfTypeRow* type_ = nullptr;
  Shape shape_;
  std::span<const std::byte> content_;
  std::string list_;
};

using Message = std::span<const std::byte>;

// Fields of GraphDef, FunctionDef, NodeDef, its attributes (entries of a map), AttrValue, and
// SavedModel's MetaGraphDef.
constexpr int kNodeField = 1, kLibraryField = 2, kFunctionField = 1, kFunctionNodeField = 3;
constexpr int kNameField = 1, kOpField = 2, kAttributeField = 5, kKeyField = 1, kValueField = 2;
constexpr int kSwitchField = 5, kTensorField = 8;
constexpr int kMetaGraphField = 2, kMetaGraphDefField = 2;

// Limit of the bytes that repeated values take in all constants together.
constexpr std::uint64_t kMostRepeated = 64U << 20U;

class TfGraphReader {
 public:
  TfGraphReader(const std::string& file, const TensorFilter& wanted)
      : file_(file), wanted_(wanted) {}

  /// Field 1 of a SavedModel is its version number, of a graph a node.
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
      const bool with_values = !wanted_ || wanted_(node.name);
      TfTensorReader constant_reader(node.name, file_);
      constant_reader.read(tensor);
      if (auto constant = constant_reader.make(with_values, repeat_budget_)) {
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
  std::uint64_t repeat_budget_ = kMostRepeated;
  TfGraph graph_;
};

}  // namespace

TfGraph parse_tf_graph(std::span<const std::byte> file, const std::string& name,
                       const TensorFilter& wanted) {
  const auto known = looks_like(file);
  check(known.empty(), ErrorKind::Input,
        "[io.tf_graph] {} is no TensorFlow graph; this looks like {}.", name, known);
  return TfGraphReader(name, wanted).read(file);
}

TfGraph read_tf_graph(const std::filesystem::path& path, const TensorFilter& wanted) {
  const MappedFile file(path);
  return parse_tf_graph(file.bytes(), path.string(), wanted);
}

}  // namespace ubique::io
