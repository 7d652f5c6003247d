// SPDX-License-Identifier: Apache-2.0
// Parses TensorProto: raw, typed lists or external data.
#include "ubique/io/graphs/onnx_tensor.h"

#include <charconv>
#include <cstring>
#include <map>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/graphs/onnx_format.h"
#include "ubique/io/text/plain_name.h"

namespace ubique::io {
namespace {

namespace form = onnx::tensor;

/// The fields of a TensorProto, before it is decided which of them holds the values.
struct OnnxTensorFields {
  HostTensor tensor;
  bool typed = false, is_external = false;
  std::optional<std::span<const std::byte>> raw;
  std::vector<std::byte> listed;                // values of the typed lists, as bytes of the dtype
  std::map<std::string, std::string> external;  // location, offset, length
};

void append_number(std::vector<std::byte>& out, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    out.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFFU));
  }
}

/// One value of a list, or a packed run of values.
void add_listed(const ProtoField& field, std::size_t width, const std::string& file,
                std::vector<std::byte>& out) {
  if (field.kind != ProtoField::Kind::Bytes) return append_number(out, field.value, width);
  const bool fixed = field.number == form::kReals || field.number == form::kDoubles;
  if (fixed) {
    out.insert(out.end(), field.bytes.begin(), field.bytes.end());
    return;
  }
  ProtoReader reader(field.bytes, file);
  while (const auto value = reader.next_integer()) append_number(out, *value, width);
}

void add_extents(const ProtoField& field, const std::string& file, Shape& shape) {
  if (field.kind != ProtoField::Kind::Bytes) {
    shape.push_back(static_cast<std::int64_t>(field.value));
    return;
  }
  ProtoReader reader(field.bytes, file);
  while (const auto extent = reader.next_integer()) {
    shape.push_back(static_cast<std::int64_t>(*extent));
  }
}

/// Lists may come before the dtype that defines their width, so they are converted last.
OnnxTensorFields read_tensor_fields(std::span<const std::byte> bytes, const std::string& file) {
  OnnxTensorFields fields;
  std::vector<ProtoField> lists;
  ProtoReader reader(bytes, file);
  while (const auto field = reader.next()) {
    switch (field->number) {
      case form::kShape:
        add_extents(*field, file, fields.tensor.shape);
        break;
      case form::kType:
        fields.tensor.dtype = onnx_dtype(field->value, file);
        fields.typed = true;
        break;
      case form::kName:
        fields.tensor.name = field->text();
        break;
      case form::kRaw:
        fields.raw = field->bytes;
        break;
      case form::kReals:
      case form::kInt32s:
      case form::kInt64s:
      case form::kDoubles:
        lists.push_back(*field);
        break;
      case form::kExternal:
        fields.external.insert(parse_onnx_entry(field->bytes, file));
        break;
      case form::kLocation:
        fields.is_external = field->value == form::kInAnotherFile;
        break;
      default:
        break;
    }
  }
  for (const auto& list : lists) {
    add_listed(list, size_of(fields.tensor.dtype), file, fields.listed);
  }
  return fields;
}

std::int64_t external_number(const OnnxTensorFields& fields, const char* key, std::int64_t missing,
                             const std::string& where) {
  const auto found = fields.external.find(key);
  if (found == fields.external.end()) return missing;
  std::int64_t number = -1;
  const auto& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  check(error == std::errc() && end == text.data() + text.size() && number >= 0, ErrorKind::Input,
        "[io.onnx] {}: the {} of its weights is no number; got '{}'.", where, key,
        printable(text, 40));
  return number;
}

std::vector<std::byte> external_bytes(const OnnxTensorFields& fields, std::int64_t expected,
                                      const std::string& where, const OnnxFiles& files) {
  const auto found = fields.external.find("location");
  const auto file = found == fields.external.end() ? std::string() : found->second;
  check(is_plain_name(file), ErrorKind::Input,
        "[io.onnx] {}: its weights lie in a file that is not plainly named; got '{}', expected a "
        "file name without folders, such as model.onnx.data.",
        where, printable(file));
  return files(file, external_number(fields, "offset", 0, where),
               external_number(fields, "length", expected, where));
}

}  // namespace

std::pair<std::string, std::string> parse_onnx_entry(std::span<const std::byte> bytes,
                                                     const std::string& file) {
  std::pair<std::string, std::string> entry;
  ProtoReader reader(bytes, file);
  while (const auto field = reader.next()) {
    if (field->number == onnx::entry::kKey) entry.first = field->text();
    if (field->number == onnx::entry::kValue) entry.second = field->text();
  }
  return entry;
}

DType onnx_dtype(std::uint64_t number, const std::string& where) {
  for (const auto& [dtype, known] : onnx::kTypes) {
    if (static_cast<std::uint64_t>(known) == number) return dtype;
  }
  fail(ErrorKind::Input,
       "[io.onnx] {}: unknown element type; got number {}, expected a float, integer "
       "or bool.",
       where, number);
}

HostTensor parse_onnx_tensor(std::span<const std::byte> bytes, const std::string& file,
                             const OnnxFiles& files) {
  auto fields = read_tensor_fields(bytes, file);
  auto& tensor = fields.tensor;
  const auto where = file + ", tensor '" + printable(tensor.name) + "'";
  const auto expected = byte_count(tensor.dtype, tensor.shape);
  const bool fits = std::none_of(tensor.shape.begin(), tensor.shape.end(),
                                 [](std::int64_t extent) { return extent < 0; });
  check(fields.typed && expected && fits && tensor.shape.size() <= kMaxTensorDimensions,
        ErrorKind::Input, "[io.onnx] {}: its type or shape is impossible; got {}.", where,
        shape_text(tensor.shape));
  if (fields.is_external) {
    tensor.bytes = external_bytes(fields, *expected, where, files);
  } else if (fields.raw) {
    tensor.bytes.assign(fields.raw->begin(), fields.raw->end());
  } else {
    tensor.bytes = std::move(fields.listed);
  }
  check(static_cast<std::int64_t>(tensor.bytes.size()) == *expected, ErrorKind::Input,
        "[io.onnx] {}: the shape {} does not fit its values; got {} bytes, expected {}.", where,
        shape_text(tensor.shape), tensor.bytes.size(), *expected);
  if (!kLittleMachine) swap_byte_order(tensor);
  return std::move(tensor);
}

}  // namespace ubique::io
