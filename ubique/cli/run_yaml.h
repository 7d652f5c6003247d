// SPDX-License-Identifier: Apache-2.0
// run.yaml: every setting of a run with where it came from, in a form that --config reads back.
#pragma once

#include <string>
#include <vector>

#include "ubique/base/config/config.h"

namespace ubique::cli {

std::string run_yaml(const std::vector<ResolvedValue>& values);

/// "lr is 0.01, was 0.001" for every setting that two such texts differ in and that changes what a
/// run comes to.
std::vector<std::string> changed_settings(const std::string& before, const std::string& now);

}  // namespace ubique::cli
