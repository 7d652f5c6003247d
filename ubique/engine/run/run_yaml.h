// SPDX-License-Identifier: Apache-2.0
// run.yaml: every setting of a run with its source, in a form that --config reads back.
#pragma once

#include <string>
#include <vector>

#include "ubique/base/config/config.h"

namespace ubique::engine {

std::string run_yaml(const std::vector<ResolvedValue>& values);

/// "lr is 0.01, was 0.001" for every setting that differs between two such texts and affects the
/// run's result.
std::vector<std::string> changed_settings(const std::string& before, const std::string& now);

}  // namespace ubique::engine
