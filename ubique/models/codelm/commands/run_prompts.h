// SPDX-License-Identifier: Apache-2.0
// What `ubique run codelm` is asked to complete: from flags, from files, or many from one file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ubique/engine/contract/request.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::codelm {

/// A text to continue, or a place between two texts.
struct Prompt {
  std::string text = {}, prefix = {}, suffix = {};
  bool fills = false;
};

std::vector<engine::Option> prompt_options();

/// At least one. Usage error for none or contradicting ones, Input error for a line of --prompts
/// that is no prompt.
std::vector<Prompt> read_prompts(const engine::Request& request);

/// Input error for a place to fill if the tokenizer lacks the tokens for it.
std::vector<std::int32_t> prompt_tokens(const Prompt& prompt, const io::Tokenizer& tokenizer);

}  // namespace ubique::codelm
