// SPDX-License-Identifier: Apache-2.0
// Members of model.json with the right kind, or an error that says which is missing.
#pragma once

#include <string>
#include <string_view>

#include "ubique/base/json.h"

namespace ubique::io {

/// Input errors begin with `where`: the file, and the part of it.
const Json& tfjs_member(const Json& object, std::string_view key, Json::value_t type,
                        const std::string& where);
const std::string& tfjs_text(const Json& object, std::string_view key, const std::string& where);
const Json& tfjs_list(const Json& object, std::string_view key, const std::string& where);

}  // namespace ubique::io
