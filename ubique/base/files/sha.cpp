// SPDX-License-Identifier: Apache-2.0
// FIPS 180-4. Ours, because a cryptography library would be loaded at every start of the program
// for the one command that downloads.
#include "ubique/base/files/sha.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace ubique {
namespace {

constexpr std::array<std::uint32_t, 8> kStartSha1{0x67452301U, 0xefcdab89U, 0x98badcfeU,
                                                  0x10325476U, 0xc3d2e1f0U};
constexpr std::array<std::uint32_t, 8> kStartSha256{0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U,
                                                    0xa54ff53aU, 0x510e527fU, 0x9b05688cU,
                                                    0x1f83d9abU, 0x5be0cd19U};
constexpr std::array<std::uint32_t, 64> kRound256{
    0x428a2f98U, 0x71374491U, 0xb5c0fbcfU, 0xe9b5dba5U, 0x3956c25bU, 0x59f111f1U, 0x923f82a4U,
    0xab1c5ed5U, 0xd807aa98U, 0x12835b01U, 0x243185beU, 0x550c7dc3U, 0x72be5d74U, 0x80deb1feU,
    0x9bdc06a7U, 0xc19bf174U, 0xe49b69c1U, 0xefbe4786U, 0x0fc19dc6U, 0x240ca1ccU, 0x2de92c6fU,
    0x4a7484aaU, 0x5cb0a9dcU, 0x76f988daU, 0x983e5152U, 0xa831c66dU, 0xb00327c8U, 0xbf597fc7U,
    0xc6e00bf3U, 0xd5a79147U, 0x06ca6351U, 0x14292967U, 0x27b70a85U, 0x2e1b2138U, 0x4d2c6dfcU,
    0x53380d13U, 0x650a7354U, 0x766a0abbU, 0x81c2c92eU, 0x92722c85U, 0xa2bfe8a1U, 0xa81a664bU,
    0xc24b8b70U, 0xc76c51a3U, 0xd192e819U, 0xd6990624U, 0xf40e3585U, 0x106aa070U, 0x19a4c116U,
    0x1e376c08U, 0x2748774cU, 0x34b0bcb5U, 0x391c0cb3U, 0x4ed8aa4aU, 0x5b9cca4fU, 0x682e6ff3U,
    0x748f82eeU, 0x78a5636fU, 0x84c87814U, 0x8cc70208U, 0x90befffaU, 0xa4506cebU, 0xbef9a3f7U,
    0xc67178f2U};

std::uint32_t big_endian(const std::byte* bytes) {
  return std::to_integer<std::uint32_t>(bytes[0]) << 24U |
         std::to_integer<std::uint32_t>(bytes[1]) << 16U |
         std::to_integer<std::uint32_t>(bytes[2]) << 8U | std::to_integer<std::uint32_t>(bytes[3]);
}

}  // namespace

Sha::Sha(ShaKind kind) : kind_(kind), state_(kind == ShaKind::Sha1 ? kStartSha1 : kStartSha256) {}

void Sha::add(std::string_view text) { add(std::as_bytes(std::span(text))); }

void Sha::add(std::span<const std::byte> bytes) {
  total_ += bytes.size();
  if (held_count_ > 0) {
    const auto count = std::min(bytes.size(), held_.size() - held_count_);
    std::copy_n(bytes.begin(), count, held_.begin() + static_cast<std::ptrdiff_t>(held_count_));
    held_count_ += count;
    bytes = bytes.subspan(count);
    if (held_count_ < held_.size()) return;
    block(held_.data());
    held_count_ = 0;
  }
  for (; bytes.size() >= held_.size(); bytes = bytes.subspan(held_.size())) block(bytes.data());
  std::copy(bytes.begin(), bytes.end(), held_.begin());
  held_count_ = bytes.size();
}

std::string Sha::finish() {
  const std::uint64_t bits = total_ * 8;
  std::array<std::byte, 72> end{std::byte{0x80}};
  // Zeros up to 8 bytes before the end of a block, then the number of bits.
  const auto zeros = (held_.size() + 55 - held_count_) % held_.size();
  for (std::size_t i = 0; i < 8; ++i) {
    end[1 + zeros + i] = static_cast<std::byte>(bits >> (56 - 8 * i) & 0xffU);
  }
  add(std::span(end).first(zeros + 9));
  std::string digits;
  const std::size_t words = kind_ == ShaKind::Sha1 ? 5 : 8;
  for (std::size_t i = 0; i < words; ++i) digits += fmt::format("{:08x}", state_[i]);
  return digits;
}

void Sha::block(const std::byte* bytes) {
  std::array<std::uint32_t, 16> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = big_endian(bytes + 4 * i);
  kind_ == ShaKind::Sha1 ? block_sha1(words) : block_sha256(words);
}

void Sha::block_sha1(const std::array<std::uint32_t, 16>& words) {
  std::array<std::uint32_t, 80> w;
  std::copy(words.begin(), words.end(), w.begin());
  for (std::size_t i = 16; i < 80; ++i) {
    w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  }
  auto a = state_[0], b = state_[1], c = state_[2], d = state_[3], e = state_[4];
  for (std::size_t i = 0; i < 80; ++i) {
    const auto f = i < 20   ? (b & c) | (~b & d)
                   : i < 40 ? b ^ c ^ d
                   : i < 60 ? (b & c) | (b & d) | (c & d)
                            : b ^ c ^ d;
    const auto k = i < 20 ? 0x5a827999U : i < 40 ? 0x6ed9eba1U : i < 60 ? 0x8f1bbcdcU : 0xca62c1d6U;
    const auto next = std::rotl(a, 5) + f + e + k + w[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  const std::array<std::uint32_t, 8> added{a, b, c, d, e};
  for (std::size_t i = 0; i < 5; ++i) state_[i] += added[i];
}

void Sha::block_sha256(const std::array<std::uint32_t, 16>& words) {
  std::array<std::uint32_t, 64> w;
  std::copy(words.begin(), words.end(), w.begin());
  for (std::size_t i = 16; i < 64; ++i) {
    const auto low = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3U;
    const auto high = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10U;
    w[i] = w[i - 16] + low + w[i - 7] + high;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const auto sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const auto first = h + sum1 + ((e & f) ^ (~e & g)) + kRound256[i] + w[i];
    const auto sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const auto second = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += added[i];
}

std::string sha256_of(std::string_view text) {
  Sha sha(ShaKind::Sha256);
  sha.add(text);
  return sha.finish();
}

}  // namespace ubique
