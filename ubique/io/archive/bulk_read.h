// SPDX-License-Identifier: Apache-2.0
// Copies a range of a mapped file into memory as fast as the page cache gives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ubique/base/files/file.h"

namespace ubique::io {

/// Input error if the file has become shorter since it was mapped.
void bulk_read(const MappedFile& file, std::uint64_t offset, std::span<std::byte> out);

}  // namespace ubique::io
