// SPDX-License-Identifier: Apache-2.0
// Numbers of the GGUF format, shared by its reader and writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "ubique/io/graphs/gguf.h"

namespace ubique::io::gguf {

inline constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF"
inline constexpr std::uint32_t kVersion = 3;
inline constexpr std::uint32_t kArray = 9;  // the value type of arrays
inline constexpr std::uint32_t kText = 8;
inline constexpr std::size_t kScalarTypes = 12;  // alternatives of GgufValue before the arrays
inline constexpr const char* kAlignmentKey = "general.alignment";
inline constexpr std::uint64_t kAlignment = 32;  // unless the metadata says otherwise
inline constexpr std::uint64_t kMostAlignment = 1U << 16U;

// llama.cpp refuses names of 64 bytes and tensors of more than four dimensions.
inline constexpr std::size_t kMostName = 63;
inline constexpr std::size_t kMostKey = 65535;
inline constexpr std::size_t kMostDimensions = 4;
inline constexpr std::uint64_t kMostTensors = 1U << 17U;
inline constexpr std::uint64_t kMostValues = 1U << 16U;

/// Number of a value type in files from its index in GgufValue, and back: the types are in file
/// order, but arrays have the number 9.
constexpr std::uint32_t type_number(std::size_t index) {
  return static_cast<std::uint32_t>(index < kArray ? index : index + 1);
}
constexpr std::size_t type_index(std::uint32_t number) {
  return number < kArray ? number : number - 1;
}

constexpr std::uint64_t align(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace ubique::io::gguf
