// SPDX-License-Identifier: Apache-2.0
// dataset_info.json, the list of scans that arc-meshchop makes and reads: parallel arrays of paths
// (relative to its folder), lesion sizes, acquisitions and names.
#pragma once

#include <filesystem>

#include "ubique/base/text/json.h"
#include "ubique/data/scans/study/subject.h"

namespace ubique::data {

inline constexpr const char* kManifestName = "dataset_info.json";

/// Keys: image_paths; and if given num_samples (must agree), mask_paths (null: none),
/// lesion_volumes (null: not counted), acquisition_types, subject_ids. A relative path is looked
/// for in the manifest's folder, in up to five folders above it, then in the working directory.
/// Input error that counts and names the files that are nowhere.
Cohort read_manifest(const std::filesystem::path& path);

/// Atomic. Paths below the manifest's folder are written relative to it. `extra` keys come after
/// the known ones; other readers pass over them.
void write_manifest(const std::filesystem::path& path, const Cohort& cohort,
                    const Json& extra = Json::object());

}  // namespace ubique::data
