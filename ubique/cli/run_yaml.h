// SPDX-License-Identifier: Apache-2.0
// run.yaml: every setting of a run with where it came from, in a form that --config reads back.
#pragma once

#include <string>
#include <vector>

#include "ubique/base/config.h"

namespace ubique::cli {

std::string run_yaml(const std::vector<ResolvedValue>& values);

}  // namespace ubique::cli
