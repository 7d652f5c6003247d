// SPDX-License-Identifier: Apache-2.0
// Matches stimuli with their maps and fixations. By name, never by position in a list, where one
// missing or extra file would shift all that follow.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ubique/data/images/datasets.h"

namespace ubique::data {

/// Every .png, .jpg and .jpeg of a folder and its sub-folders, sorted by path; or the file itself,
/// if `path` is one. Hidden files and CAT2000's folders Output are skipped.
std::vector<std::filesystem::path> images_in(const std::filesystem::path& path);
/// The files of a folder and its sub-folders that images_in does not list; none if `path` is a
/// file.
std::vector<std::filesystem::path> other_files_in(const std::filesystem::path& path);

/// Path below `root` without extension: the name that files of one picture share.
std::string sample_id(const std::filesystem::path& file, const std::filesystem::path& root);

/// One sample per stimulus, with its map and fixations (empty path: none). Input error that names
/// the files if one is missing or extra, or if map and stimulus differ in size.
std::vector<SaliencySample> pair_files(const SaliencyFolders& folders, int threads);

}  // namespace ubique::data
