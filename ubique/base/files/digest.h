// SPDX-License-Identifier: Apache-2.0
// The digest that tells a damaged checkpoint from a good one: XXH64. Any change within one 8-byte
// word is found for certain, anything else but for one in 2^64. It runs at the speed of memory, so
// that checking a large checkpoint costs no more than reading it, and people can check it with
// xxh64sum. It protects against disks and cables, not against people: no cryptography.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ubique {

std::uint64_t xxh64(std::span<const std::byte> bytes);

std::string digest_of(std::span<const std::byte> bytes);  ///< 16 hexadecimal digits
std::string digest_of(std::string_view text);

}  // namespace ubique
