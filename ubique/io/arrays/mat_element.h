// SPDX-License-Identifier: Apache-2.0
// The elements of a .mat file: a type, a size and bytes, which may contain elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ubique/base/error.h"

namespace ubique::io {

enum class MatType : std::uint64_t {
  I8 = 1,
  U8,
  I16,
  U16,
  I32,
  U32,
  F32,
  F64 = 9,
  I64 = 12,
  U64,
  Matrix,
  Compressed,
  Utf8,
  Utf16,
  Utf32,
};

struct MatElement {
  MatType type = MatType::I8;
  std::span<const std::byte> bytes;
};

/// Reads elements in sequence; every size is checked.
class MatCursor {
 public:
  MatCursor(std::span<const std::byte> bytes, bool big, const std::string& name)
      : rest_(bytes), big_(big), name_(&name) {}

  bool at_end() const { return rest_.empty(); }
  std::size_t left() const { return rest_.size(); }
  MatElement next();
  MatCursor inside(const MatElement& element) const { return {element.bytes, big_, *name_}; }

  /// How many numbers the element holds; Input error if it holds something else.
  std::size_t number_count(const MatElement& element) const;
  /// The element's numbers, converted to double.
  std::vector<double> numbers(const MatElement& element) const;
  /// Integers: sizes and flags.
  std::vector<std::int64_t> integers(const MatElement& element) const;

  template <typename... Args>
  [[noreturn]] void damaged(fmt::format_string<Args...> what, Args&&... args) const {
    fail(ErrorKind::Input, "[io.mat] {} is damaged or cut short; {}. Copy or download it again.",
         *name_, fmt::format(what, std::forward<Args>(args)...));
  }

 private:
  std::uint64_t load(std::span<const std::byte> bytes) const;
  std::span<const std::byte> take(std::uint64_t count);

  std::span<const std::byte> rest_;
  bool big_;
  const std::string* name_;
};

/// The content of a compressed element: one element of at most `most` bytes, decided by its tag
/// before the rest is inflated.
std::vector<std::byte> inflate_mat(std::span<const std::byte> compressed, bool big,
                                   std::size_t most, const std::string& name);

}  // namespace ubique::io
