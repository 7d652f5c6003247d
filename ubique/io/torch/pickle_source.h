// SPDX-License-Identifier: Apache-2.0
// The bytes of a pickle, taken from the front; each step checks that they suffice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ubique/io/archive/byte_order.h"

namespace ubique::io {

class PickleSource {
 public:
  /// `file` stands for the file in messages.
  PickleSource(std::span<const std::byte> bytes, const std::string& file)
      : bytes_(bytes), file_(file) {}

  const std::string& file() const { return file_; }
  std::size_t left() const { return bytes_.size() - at_; }

  /// Input error that names file and place.
  [[noreturn]] void damaged(std::string_view what) const;
  void require(bool condition, std::string_view what) const {
    if (!condition) damaged(what);
  }

  std::span<const std::byte> take(std::uint64_t size);
  std::uint64_t take_number(std::size_t width) { return load_little(take(width)); }
  std::string take_text(std::uint64_t size);
  std::string take_line();  ///< up to the next newline, without it

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
};

}  // namespace ubique::io
