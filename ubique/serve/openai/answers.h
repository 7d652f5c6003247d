// SPDX-License-Identifier: Apache-2.0
// Answers in OpenAI's forms, whole or in chunks, from what a worker says. Token by token they are
// made of whole characters only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/serve/openai/call.h"

namespace ubique::serve {

/// "data: ...\n\n", an event of a stream.
std::string stream_event(const Json& chunk);

/// The answer to one call while it comes.
class OpenAiAnswer {
 public:
  /// `id` and `created` (seconds since 1970) stand in every chunk.
  OpenAiAnswer(const OpenAiCall& call, std::string id, std::int64_t created);

  /// Takes an event of a choice: "started", "text", "done". Returns the chunks that a stream sends
  /// for it.
  std::string take(std::size_t choice, const Json& event);
  bool complete() const { return open_ == 0; }
  /// Has a choice got text? Then it cannot begin anew unseen.
  bool has_text() const { return has_text_; }
  /// The end of a stream: usage, if it was asked for, and the mark.
  std::string end_of_stream() const;
  /// The answer of a call without a stream.
  Json whole() const;

 private:
  struct Choice {
    std::string text;
    Json tokens = Json::array();   // of all its events
    std::int64_t text_offset = 0;  // characters before the next token, for completions
    std::string finish;
    bool begun = false;
  };

  Json frame(const char* object) const;
  std::string chunk(std::size_t choice, Json part, const Json& tokens, const std::string& finish);
  Json logprobs_json(const Json& tokens, std::int64_t& offset) const;
  Json usage() const;

  OpenAiCall call_;
  std::string id_;
  std::int64_t created_;
  std::vector<Choice> choices_;
  std::vector<std::int64_t> prompt_tokens_, completion_tokens_;  // of each choice
  std::size_t open_;
  bool has_text_ = false;
};

}  // namespace ubique::serve
