// SPDX-License-Identifier: Apache-2.0
// SHA-1 and SHA-256 of data that come in pieces: what model hubs and git name files by. SHA-1 only
// finds damage; against tampering SHA-256 is needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ubique {

enum class ShaKind { Sha1, Sha256 };

class Sha {
 public:
  explicit Sha(ShaKind kind);

  void add(std::span<const std::byte> bytes);
  void add(std::string_view text);
  std::string finish();  ///< 40 or 64 hexadecimal digits; once, at the end

 private:
  void block(const std::byte* bytes);
  void block_sha1(const std::array<std::uint32_t, 16>& words);
  void block_sha256(const std::array<std::uint32_t, 16>& words);

  ShaKind kind_;
  std::array<std::uint32_t, 8> state_{};
  std::array<std::byte, 64> held_{};
  std::size_t held_count_ = 0;
  std::uint64_t total_ = 0;
};

std::string sha256_of(std::string_view text);

}  // namespace ubique
