// SPDX-License-Identifier: Apache-2.0
// What `convert` and `export` write of a code language model.
#pragma once

#include <vector>

#include "ubique/engine/contract/format.h"

namespace ubique::codelm {

std::vector<engine::Format> codelm_formats();

}  // namespace ubique::codelm
