// SPDX-License-Identifier: Apache-2.0
// dataset_info.json, arc-meshchop's list of scans: parallel arrays of paths (relative to its
// folder), lesion sizes, acquisitions and names.
#pragma once

#include <filesystem>

#include "ubique/base/text/json.h"
#include "ubique/data/scans/study/subject.h"

namespace ubique::data {

inline constexpr const char* kManifestName = "dataset_info.json";

/// Keys: image_paths; optional num_samples (must agree), mask_paths (null: none), lesion_volumes
/// (null: not counted), acquisition_types, subject_ids. A relative path is looked for in the
/// manifest's folder, in up to five folders above it, then in the working directory. Input error
/// that counts and names the missing files.
Cohort read_manifest(const std::filesystem::path& path);

/// Atomic. Paths below the manifest's folder are written relative to it. `extra` keys come after
/// the known ones; other readers ignore them.
void write_manifest(const std::filesystem::path& path, const Cohort& cohort,
                    const Json& extra = Json::object());

}  // namespace ubique::data
