// SPDX-License-Identifier: Apache-2.0
// Protocol Buffers' wire format: numbered fields, read and written one by one; their meaning is up
// to the caller. The protobuf library is not used: LibTorch links its own copy, and two copies in
// one process crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ubique::io {

class ProtoWriter {
 public:
  void integer(int field, std::int64_t value);
  void real(int field, float value);
  void text(int field, std::string_view value);
  void message(int field, const ProtoWriter& inner) { text(field, inner.bytes_); }
  void integers(int field, std::span<const std::int64_t> values);  ///< packed
  void reals(int field, std::span<const float> values);            ///< packed

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct ProtoField {
  enum class Kind { Integer, Fixed64, Bytes, Fixed32 };

  int number = 0;
  Kind kind = Kind::Integer;
  std::uint64_t value = 0;           ///< Integer, Fixed64, Fixed32
  std::span<const std::byte> bytes;  ///< Bytes: a text, a message or packed numbers

  std::string_view text() const;
  float real() const;
};

/// Iterates over the fields of a message. Input error that names `file` if the bytes end within a
/// field or are no message.
class ProtoReader {
 public:
  ProtoReader(std::span<const std::byte> bytes, std::string file)
      : rest_(bytes), file_(std::move(file)) {}

  std::optional<ProtoField> next();
  /// The next integer of a packed field; construct the reader from that field's bytes.
  std::optional<std::uint64_t> next_integer();

 private:
  std::uint64_t take_varint();
  std::span<const std::byte> take(std::uint64_t count);

  std::span<const std::byte> rest_;
  std::string file_;
};

}  // namespace ubique::io
