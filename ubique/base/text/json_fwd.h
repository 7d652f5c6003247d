// SPDX-License-Identifier: Apache-2.0
// Json as an incomplete type, for headers that only name it in signatures: json.h adds seconds to
// the compile time of every file that sees it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace ubique {

using Json = nlohmann::ordered_json;

}  // namespace ubique
