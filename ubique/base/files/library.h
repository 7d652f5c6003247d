// SPDX-License-Identifier: Apache-2.0
// The folder of the loaded libubique: plug-ins and installed data are found relative to it.
#pragma once

#include <filesystem>

namespace ubique {

/// Symbolic links resolved; empty if the dynamic loader does not know it.
std::filesystem::path library_folder();

}  // namespace ubique
