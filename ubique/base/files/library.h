// SPDX-License-Identifier: Apache-2.0
// Where this library lies, from which everything that is installed with it is found.
#pragma once

#include <filesystem>

namespace ubique {

/// The folder of libubique, links followed; empty if the system does not say.
std::filesystem::path library_folder();

}  // namespace ubique
