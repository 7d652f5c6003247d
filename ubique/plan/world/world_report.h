// SPDX-License-Identifier: Apache-2.0
// A plan of many processes as text and JSON.
#pragma once

#include <string>

#include "ubique/base/text/json_fwd.h"
#include "ubique/plan/world/world_plan.h"

namespace ubique::plan {

std::string world_text(const std::string& machine, const WorldPlan& world);
Json to_json(const WorldPlan& world);

}  // namespace ubique::plan
