// SPDX-License-Identifier: Apache-2.0
// XXH64 with seed 0, from its published description: four lanes consume 32 bytes at a time.
#include "ubique/base/files/digest.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

namespace ubique {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read in native byte order");

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F,
                        kPrime3 = 0x165667B19E3779F9, kPrime4 = 0x85EBCA77C2B2AE63,
                        kPrime5 = 0x27D4EB2F165667C5;

template <typename Word>
std::uint64_t read_word(const std::byte* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

std::uint64_t mix_word(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

/// Hashes all whole stripes of 32 bytes and removes them from `bytes`.
std::uint64_t hash_stripes(std::span<const std::byte>& bytes) {
  std::array<std::uint64_t, 4> lanes = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
  const auto* at = bytes.data();
  for (const auto* end = at + bytes.size() / 32 * 32; at != end; at += 32) {
    for (std::size_t i = 0; i < 4; ++i) {
      lanes[i] = mix_word(lanes[i], read_word<std::uint64_t>(at + 8 * i));
    }
  }
  bytes = bytes.last(bytes.size() % 32);
  auto hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
              std::rotl(lanes[3], 18);
  for (const auto lane : lanes) hash = (hash ^ mix_word(0, lane)) * kPrime1 + kPrime4;
  return hash;
}

std::uint64_t hash_tail(std::uint64_t hash, std::span<const std::byte> tail) {
  for (; tail.size() >= 8; tail = tail.subspan(8)) {
    hash ^= mix_word(0, read_word<std::uint64_t>(tail.data()));
    hash = std::rotl(hash, 27) * kPrime1 + kPrime4;
  }
  if (tail.size() >= 4) {
    hash ^= read_word<std::uint32_t>(tail.data()) * kPrime1;
    hash = std::rotl(hash, 23) * kPrime2 + kPrime3;
    tail = tail.subspan(4);
  }
  for (const auto byte : tail) {
    hash ^= std::to_integer<std::uint64_t>(byte) * kPrime5;
    hash = std::rotl(hash, 11) * kPrime1;
  }
  return hash;
}

}  // namespace

std::uint64_t xxh64(std::span<const std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  std::uint64_t hash = (size >= 32 ? hash_stripes(bytes) : kPrime5) + size;
  hash = hash_tail(hash, bytes);
  hash = (hash ^ (hash >> 33U)) * kPrime2;
  hash = (hash ^ (hash >> 29U)) * kPrime3;
  return hash ^ (hash >> 32U);
}

std::string digest_of(std::span<const std::byte> bytes) {
  return fmt::format("{:016x}", xxh64(bytes));
}

std::string digest_of(std::string_view text) { return digest_of(std::as_bytes(std::span(text))); }

}  // namespace ubique
