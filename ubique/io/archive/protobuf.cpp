// SPDX-License-Identifier: Apache-2.0
// Varints, tags and the four wire types.
#include "ubique/io/archive/protobuf.h"

#include <bit>

#include "ubique/base/error.h"
#include "ubique/io/archive/byte_order.h"

namespace ubique::io {
namespace {

enum class Wire : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

constexpr std::uint64_t kMostField = (1U << 29U) - 1;

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>(value | 0x80U);
  out += static_cast<char>(value);
}

void append_tag(std::string& out, int field, Wire wire) {
  append_varint(out, static_cast<std::uint64_t>(field) << 3U | static_cast<std::uint64_t>(wire));
}

}  // namespace

void ProtoWriter::integer(int field, std::int64_t value) {
  append_tag(bytes_, field, Wire::Varint);
  append_varint(bytes_, static_cast<std::uint64_t>(value));
}

void ProtoWriter::real(int field, float value) {
  append_tag(bytes_, field, Wire::Fixed32);
  append_little(bytes_, std::bit_cast<std::uint32_t>(value), 4);
}

void ProtoWriter::text(int field, std::string_view value) {
  append_tag(bytes_, field, Wire::Bytes);
  append_varint(bytes_, value.size());
  bytes_ += value;
}

void ProtoWriter::integers(int field, std::span<const std::int64_t> values) {
  std::string packed;
  for (const auto value : values) append_varint(packed, static_cast<std::uint64_t>(value));
  text(field, packed);
}

void ProtoWriter::reals(int field, std::span<const float> values) {
  std::string packed;
  for (const auto value : values) append_little(packed, std::bit_cast<std::uint32_t>(value), 4);
  text(field, packed);
}

std::string_view ProtoField::text() const {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

float ProtoField::real() const { return std::bit_cast<float>(static_cast<std::uint32_t>(value)); }

std::span<const std::byte> ProtoReader::take(std::uint64_t count) {
  check(count <= rest_.size(), ErrorKind::Input,
        "[io.protobuf] {} ends too early; got {} bytes of a field, expected {}. Is it cut off?",
        file_, rest_.size(), count);
  const auto taken = rest_.first(static_cast<std::size_t>(count));
  rest_ = rest_.subspan(taken.size());
  return taken;
}

std::uint64_t ProtoReader::take_varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(take(1)[0]);
    value |= (byte & 0x7FU) << shift;
    if (byte < 0x80) return value;
  }
  fail(ErrorKind::Input,
       "[io.protobuf] {} is damaged; got a number of more than ten bytes, expected at most ten.",
       file_);
}

std::optional<std::uint64_t> ProtoReader::next_integer() {
  if (rest_.empty()) return std::nullopt;
  return take_varint();
}

std::optional<ProtoField> ProtoReader::next() {
  if (rest_.empty()) return std::nullopt;
  const auto tag = take_varint();
  const auto number = tag >> 3U;
  check(number >= 1 && number <= kMostField, ErrorKind::Input,
        "[io.protobuf] {} is damaged or of another format; got a field number {}, expected 1 to "
        "{}.",
        file_, number, kMostField);
  ProtoField field;
  field.number = static_cast<int>(number);
  switch (static_cast<Wire>(tag & 7U)) {
    case Wire::Varint:
      field.value = take_varint();
      return field;
    case Wire::Fixed64:
      field.kind = ProtoField::Kind::Fixed64;
      field.value = load_little(take(8));
      return field;
    case Wire::Bytes:
      field.kind = ProtoField::Kind::Bytes;
      field.bytes = take(take_varint());
      return field;
    case Wire::Fixed32:
      field.kind = ProtoField::Kind::Fixed32;
      field.value = load_little(take(4));
      return field;
  }
  fail(ErrorKind::Input,
       "[io.protobuf] {} is damaged or of another format; got a field of kind {}, expected 0, 1, 2 "
       "or 5.",
       file_, tag & 7U);
}

}  // namespace ubique::io
