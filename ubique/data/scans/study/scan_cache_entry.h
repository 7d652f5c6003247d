// SPDX-License-Identifier: Apache-2.0
// The file format of one cached scan: tensors "image" and "mask", and metadata with the key, the
// affine, the value range and a checksum.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/data/scans/volume/volume.h"

namespace ubique::data {

/// Incremented when the same key would give other bytes.
inline constexpr int kScanCacheVersion = 1;

/// Atomic. `mask` may be null. The image is stored as `dtype` (F16, U8, F32).
void write_cache_entry(const std::filesystem::path& path, const std::string& key,
                       const Volume& image, const LabelMap* mask, DType dtype);

}  // namespace ubique::data
