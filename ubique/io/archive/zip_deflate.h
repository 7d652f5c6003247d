// SPDX-License-Identifier: Apache-2.0
// Raw deflate (no gzip or zlib header) in memory, for buffers of any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ubique::io {

std::vector<std::byte> deflate_raw(std::span<const std::byte> bytes);

/// Nothing if the packed bytes are damaged or do not inflate to exactly `size` bytes.
std::optional<std::vector<std::byte>> inflate_raw(std::span<const std::byte> packed,
                                                  std::uint64_t size);

}  // namespace ubique::io
