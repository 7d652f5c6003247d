// SPDX-License-Identifier: Apache-2.0
// What our own exports say about themselves, in formats that have a place for notes.
#pragma once

#include <map>

#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

/// Takes over the configuration in the notes, if there is one, and turns kernels back that were
/// turned for BrainChop. Input error if it describes another network than the weights.
void adopt_notes(MeshNetFile& file, const std::map<std::string, std::string>& notes,
                 const std::string& where);

}  // namespace ubique::meshnet
