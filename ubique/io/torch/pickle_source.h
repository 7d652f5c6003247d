// SPDX-License-Identifier: Apache-2.0
// A bounds-checked cursor over the bytes of a pickle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ubique/base/error.h"
#include "ubique/io/archive/byte_order.h"

namespace ubique::io {

class PickleSource {
 public:
  /// Error messages call the file `file`.
  PickleSource(std::span<const std::byte> bytes, const std::string& file)
      : bytes_(bytes), file_(file) {}

  const std::string& file() const { return file_; }
  std::size_t left() const { return bytes_.size() - at_; }

  /// Input error that names the file and the offset.
  [[noreturn]] void damaged(std::string_view what) const {
    fail(ErrorKind::Input, "[io.pickle] {} holds a pickle that cannot be read; near byte {}: {}.",
         file_, at_, what);
  }
  void require(bool condition, std::string_view what) const {
    if (!condition) damaged(what);
  }

  std::span<const std::byte> take(std::uint64_t size) {
    require(size <= left(), "it ends too early");
    const auto taken = bytes_.subspan(at_, size);
    at_ += size;
    return taken;
  }
  std::uint64_t take_number(std::size_t width) { return load_little(take(width)); }
  std::string take_text(std::uint64_t size) {
    const auto taken = take(size);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  /// Up to the next newline, which is skipped.
  std::string take_line() {
    const auto rest = bytes_.subspan(at_);
    const auto end = std::find(rest.begin(), rest.end(), std::byte{'\n'});
    require(end != rest.end(), "it ends too early");
    auto line = take_text(static_cast<std::uint64_t>(end - rest.begin()));
    take(1);
    return line;
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
};

}  // namespace ubique::io
