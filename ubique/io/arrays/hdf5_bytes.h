// SPDX-License-Identifier: Apache-2.0
// Bounds-checked access to the bytes of an HDF5 file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ubique/base/error.h"
#include "ubique/io/archive/byte_order.h"

namespace ubique::io {

/// The undefined address: all bits set.
inline constexpr std::uint64_t kHdf5Undefined = ~std::uint64_t{0};

/// The file, the widths of its addresses and lengths, and its name for messages.
struct Hdf5Source {
  std::span<const std::byte> file;
  std::string name;
  std::size_t address_width = 8, length_width = 8;

  template <typename... Args>
  [[noreturn]] void damaged(fmt::format_string<Args...> what, Args&&... args) const {
    fail(ErrorKind::Input, "[io.hdf5] {} is damaged or cut short; {}. Copy or download it again.",
         name, fmt::format(what, std::forward<Args>(args)...));
  }

  std::span<const std::byte> at(std::uint64_t address, std::uint64_t count) const {
    if (address > file.size() || file.size() - address < count) {
      damaged("it has {} bytes, and needs {} from byte {} on", file.size(), count, address);
    }
    return file.subspan(address, count);
  }
  /// Everything from an address on.
  std::span<const std::byte> from(std::uint64_t address) const {
    at(address, 0);
    return file.subspan(address);
  }
};

/// Reads numbers in sequence from a part of the file.
class Hdf5Cursor {
 public:
  Hdf5Cursor(const Hdf5Source& source, std::span<const std::byte> part)
      : source_(&source), rest_(part) {}

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > rest_.size()) source_->damaged("a part of it ends too early");
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  std::uint64_t number(std::size_t width) { return load_little(take(width)); }
  std::uint64_t length() { return number(source_->length_width); }
  std::uint64_t address() {
    const auto width = source_->address_width;
    const auto value = number(width);
    const bool nowhere = width < 8 && value == (std::uint64_t{1} << (8 * width)) - 1;
    return nowhere ? kHdf5Undefined : value;
  }
  void expect(std::string_view mark) {
    const auto found = take(mark.size());
    const std::string_view text(reinterpret_cast<const char*>(found.data()), found.size());
    if (text != mark) source_->damaged("a part that begins with {} is missing", mark);
  }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  const Hdf5Source* source_;
  std::span<const std::byte> rest_;
};

}  // namespace ubique::io
