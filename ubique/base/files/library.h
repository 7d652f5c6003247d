// SPDX-License-Identifier: Apache-2.0
// The folder of the loaded libubique: plug-ins and installed data are found relative to it.
#pragma once

#include <filesystem>
#include <vector>

namespace ubique {

/// Symbolic links resolved; empty if the dynamic loader does not know it.
std::filesystem::path library_folder();

/// Folders in which shipped data such as configs/ are looked for, nearest first: the current one,
/// PREFIX/share/ubique of an installation, the source tree of a build.
std::vector<std::filesystem::path> data_places();
/// The first of them that has `path` in it, with it; empty if none has.
std::filesystem::path find_data(const std::filesystem::path& path);

}  // namespace ubique
