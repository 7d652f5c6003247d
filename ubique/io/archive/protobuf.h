// SPDX-License-Identifier: Apache-2.0
// Protocol Buffers' wire format: numbered fields, written and read one by one. What the fields mean
// is the format's business that is made of them. The library of that name is not used: LibTorch
// carries one of its own, and two in one process end it.
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
  std::uint64_t value = 0;           ///< of the first, second and last kind
  std::span<const std::byte> bytes;  ///< of Bytes: a text, a message, packed numbers

  std::string_view text() const;
  float real() const;
};

/// Walks through a message. Input error that names `file` where it ends within a field or is no
/// message at all.
class ProtoReader {
 public:
  ProtoReader(std::span<const std::byte> bytes, std::string file)
      : rest_(bytes), file_(std::move(file)) {}

  std::optional<ProtoField> next();
  /// The next packed integer; only in the bytes of a packed field.
  std::optional<std::uint64_t> next_integer();

 private:
  std::uint64_t take_varint();
  std::span<const std::byte> take(std::uint64_t count);

  std::span<const std::byte> rest_;
  std::string file_;
};

}  // namespace ubique::io
