// SPDX-License-Identifier: Apache-2.0
// A conversation with a chat model: who said what so far, answers token by token, and what is
// forgotten when the window is full. Prints nothing.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/random.h"
#include "ubique/data/chat/chat_tokens.h"
#include "ubique/data/token_choice.h"
#include "ubique/models/trm/chat_decoder.h"

namespace ubique::trm {

struct TalkOptions {
  data::TokenChoice choice = {};
  std::int64_t max_new_tokens = 100;
  std::uint64_t seed = 0;
};

/// Why an answer ended.
enum class AnswerEnd { Marker, Length, Window, Stopped };
std::string_view to_string(AnswerEnd end);  ///< "marker", "length", "window", "stopped"

struct Answered {
  std::string text;
  AnswerEnd end = AnswerEnd::Marker;
  std::int64_t prompt_tokens = 0, new_tokens = 0;
  std::int64_t forgotten = 0;  ///< turns dropped to make room
};

/// Gets an answer's text as it comes, whole characters only; false: stop.
using ShowText = std::function<bool(std::string_view)>;

class Talk {
 public:
  /// Input error for a tokenizer that is not the model's. Both must outlive this.
  Talk(ChatDecoder& decoder, const data::ChatTokens& tokens, TalkOptions options);

  /// A system turn, if any, is what every answer sees first; it is never forgotten.
  void set_system(const std::string& text);
  /// Every token is computed from all turns that fit, this question last. Input error for a
  /// question that does not fit into the window by itself.
  Answered answer(const std::string& question, const ShowText& show = {});

  const std::vector<data::Turn>& turns() const { return turns_; }
  void forget();  ///< all turns but the system's

 private:
  bool forget_oldest();
  std::vector<std::int32_t> prompt_that_fits(std::size_t after, Answered& answered);
  AnswerEnd speak(std::vector<std::int32_t> prompt, Answered& answered, const ShowText& show);

  ChatDecoder& decoder_;
  const data::ChatTokens& tokens_;
  TalkOptions options_;
  Random random_;
  std::uint64_t drawn_ = 0;  // tokens since the start
  std::vector<data::Turn> turns_;
};

}  // namespace ubique::trm
