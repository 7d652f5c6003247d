// SPDX-License-Identifier: Apache-2.0
// Shared by the readers of tokenizer.json and of GPT-2's pair of files.
#pragma once

#include <string>
#include <utility>

#include "ubique/base/text/json_fwd.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::io {

/// Input error unless it is a valid token id.
std::int32_t token_id(const Json& id, const std::string& where);
/// Appends the entries of {"token": id, ...} to the vocabulary.
void read_vocabulary(const Json& vocabulary, TokenizerModel& model, const std::string& where);
/// The two tokens of a merge "a b".
std::pair<std::string, std::string> merge_line(const std::string& line, const std::string& where);

}  // namespace ubique::io
