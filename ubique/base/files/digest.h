// SPDX-License-Identifier: Apache-2.0
// XXH64, the digest that detects damaged checkpoints. Any change within one 8-byte word is detected
// for certain, any other with probability 1 - 2^-64. It runs at memory speed, so checking costs no
// more than reading, and xxh64sum gives the same digits. Not cryptographic: it guards against
// hardware faults, not against tampering.
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
