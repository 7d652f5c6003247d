// SPDX-License-Identifier: Apache-2.0
// Output paths of commands: folders are made and writing is tried before the work starts, so that
// hours of work do not end in "cannot write".
#pragma once

#include <filesystem>

namespace ubique {

/// Makes the parent folder of `path`, if it names one. Input error if that fails.
void make_folder_of(const std::filesystem::path& path);

/// For a folder that results go into, before the work: tries the nearest folder that exists, makes
/// none. Input error with the reason if nothing can be written there.
void check_output_folder(const std::filesystem::path& path);

/// For a file that is written when the work is done: makes its folder and tries to write there. An
/// empty path is fine. Input error with the reason if it cannot be written.
void check_output_file(const std::filesystem::path& path);

}  // namespace ubique
