// SPDX-License-Identifier: Apache-2.0
// Where a command's result is to go: made and tried before the work, not after it.
#pragma once

#include <filesystem>

namespace ubique {

/// Makes the folder that `path` is to lie in, if it names one. Input error if that cannot be.
void make_folder_of(const std::filesystem::path& path);

/// For a file that is written once the work is done: makes its folder and tries to write there. No
/// path is fine. Input error that says why it cannot be.
void check_output_file(const std::filesystem::path& path);

}  // namespace ubique
