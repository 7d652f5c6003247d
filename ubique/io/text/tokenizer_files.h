// SPDX-License-Identifier: Apache-2.0
// What the readers of tokenizer files share.
#pragma once

#include <string>
#include <utility>

#include "ubique/base/text/json_fwd.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::io {

/// Input error unless it is a number that can be an id.
std::int32_t token_id(const Json& id, const std::string& where);
/// {"token": id, ...}
void read_vocabulary(const Json& vocabulary, TokenizerModel& model, const std::string& where);
/// "a b"
std::pair<std::string, std::string> merge_line(const std::string& line, const std::string& where);

}  // namespace ubique::io
