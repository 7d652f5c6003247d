// SPDX-License-Identifier: Apache-2.0
// Which files belong together. Names decide, never positions in a list: a file that is missing or
// one too many would move all that follow it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ubique/data/images/datasets.h"

namespace ubique::data {

/// Path below `root` without ending: what files of one picture have in common.
std::string sample_id(const std::filesystem::path& file, const std::filesystem::path& root);

/// Samples of the stimuli, with their maps and fixations; empty paths stand for none. Input error
/// that names two files, if one is missing, is one too many, or maps and stimuli differ in size.
std::vector<SaliencySample> paired(const SaliencyFolders& folders, int threads);

}  // namespace ubique::data
