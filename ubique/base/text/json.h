// SPDX-License-Identifier: Apache-2.0
// JSON in and out with our errors. Output carries a schema name and version, so that scripts can
// tell when a format changes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "ubique/base/text/json_fwd.h"

namespace ubique {

/// Input error "[base.json] WHERE is not JSON; line L column C ...", and for a key that an object
/// has twice or more than 128 levels.
Json parse_json(std::string_view text, const std::string& where);
/// The text of a document that may hold paths or other texts from outside: bytes that are not UTF-8
/// become U+FFFD instead of an exception after the work is done, and no control character stands in
/// it as it is. On one line unless `indent` >= 0.
std::string json_text(const Json& document, int indent = -1);
/// {"schema": "ubique.NAME", "schema_version": VERSION}: the start of every --json output.
Json json_document(std::string_view name, int version);

}  // namespace ubique
