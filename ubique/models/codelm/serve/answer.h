// SPDX-License-Identifier: Apache-2.0
// The lines that a worker sends about one request: it started, pieces of text, the end or an error.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/io/text/tokenizer.h"
#include "ubique/nn/decode/generate.h"

namespace ubique::codelm {

/// The line of an error; `id` is empty for one that belongs to no request.
std::string error_line(const std::string& id, const Error& error);

class Answer {
 public:
  /// `out` receives the lines; both must outlive this.
  Answer(std::string id, const io::Tokenizer& tokenizer, std::string& out);

  void queued();  ///< the request is a good one
  void started(std::size_t prompt_tokens);
  void echo(std::string_view text);
  /// A token, whose text comes later if at all. Without logprobs it is not reported.
  void chosen(std::int32_t token, const std::vector<nn::TokenLogprob>& logprobs);
  void text(std::string_view text);
  void finished(const nn::Completion& made, std::size_t prompt_tokens);
  void failed(const Error& error);

 private:
  struct Reported {
    std::size_t begin;  ///< its first byte in the text
    Json json;
  };

  Json token_json(const nn::TokenLogprob& logprob) const;
  Json take_tokens(bool all);
  void send(const Json& line);

  std::string id_, text_begin_;  // of a line with text
  const io::Tokenizer& tokenizer_;
  std::string& out_;
  std::deque<Reported> tokens_;        // chosen, whose text was not yet shown
  std::size_t bytes_ = 0, shown_ = 0;  // of all tokens, and of the text that was sent
};

}  // namespace ubique::codelm
