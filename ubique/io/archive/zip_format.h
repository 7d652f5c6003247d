// SPDX-License-Identifier: Apache-2.0
// Signatures, record sizes and flags of the zip format, for reader and writer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ubique::io::zip {

inline constexpr std::uint32_t kLocalSignature = 0x04034b50;
inline constexpr std::uint32_t kCentralSignature = 0x02014b50;
inline constexpr std::uint32_t kEndSignature = 0x06054b50;
inline constexpr std::uint32_t kEnd64Signature = 0x06064b50;
inline constexpr std::uint32_t kLocator64Signature = 0x07064b50;

// Size of each record without its name, extra fields and comment.
inline constexpr std::size_t kLocalBytes = 30;
inline constexpr std::size_t kCentralBytes = 46;
inline constexpr std::size_t kEndBytes = 22;
inline constexpr std::size_t kEnd64Bytes = 56;
inline constexpr std::size_t kLocator64Bytes = 20;

inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;

inline constexpr std::uint16_t kEncryptedFlag = 1U << 0U;
inline constexpr std::uint16_t kDescriptorFlag = 1U << 3U;  ///< sizes and CRC follow the data
inline constexpr std::uint16_t kUtf8Flag = 1U << 11U;

inline constexpr std::uint16_t kExtra64 = 0x0001;       ///< zip64: sizes and offset of 8 bytes
inline constexpr std::uint16_t kExtraPadding = 0x4246;  ///< "FB", as PyTorch pads
inline constexpr std::uint32_t kIn64 = 0xFFFFFFFF;      ///< the value is in the zip64 extra field

}  // namespace ubique::io::zip
