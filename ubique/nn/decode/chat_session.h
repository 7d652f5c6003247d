// SPDX-License-Identifier: Apache-2.0
// A conversation with a chat model: keeps the turns, generates replies token by token, and drops
// the oldest turns when the context window is full. Prints nothing.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/io/text/chat_template.h"
#include "ubique/nn/decode/decoder.h"
#include "ubique/nn/decode/sampling.h"
#include "ubique/nn/decode/text_stream.h"

namespace ubique::nn {

struct ChatOptions {
  SamplingOptions sampling = {};
  std::int64_t max_new_tokens = 100;
  std::uint64_t seed = 0;
  std::int64_t lookup = 0;  ///< guesses ahead, as GenerateOptions has them
};

/// Why a reply ended.
enum class ReplyEnd { Marker, Length, Window, Stopped };
std::string_view to_string(ReplyEnd end);  ///< "marker", "length", "window", "stopped"

struct Reply {
  std::string text;
  ReplyEnd end = ReplyEnd::Marker;
  std::int64_t prompt_tokens = 0, new_tokens = 0;
  std::int64_t forgotten = 0;  ///< turns dropped to fit the context window
  std::int64_t passes = 0;     ///< of the network, the prompt's included
};

class ChatSession {
 public:
  /// Input error for a tokenizer that is not the model's. Both must outlive this.
  ChatSession(Decoder& decoder, const io::ChatTemplate& tokens, ChatOptions options);

  /// The system turn comes first in every prompt and is never dropped; an empty text removes it.
  void set_system(const std::string& text);
  /// Generates from all turns that fit, this question last. Input error for a question that does
  /// not fit into the context window by itself.
  Reply ask(const std::string& question, const ShowText& show = {});

  const std::vector<io::Turn>& turns() const { return turns_; }
  void forget();  ///< all turns but the system's

 private:
  class Speaking;

  bool forget_oldest();
  std::vector<std::int32_t> prompt_that_fits(std::size_t after, Reply& reply);
  ReplyEnd generate(const std::vector<std::int32_t>& prompt, Reply& reply, const ShowText& show);

  Decoder& decoder_;
  const io::ChatTemplate& tokens_;
  ChatOptions options_;
  Random random_;
  std::uint64_t drawn_ = 0;  // tokens sampled since the start: the position in the random stream
  std::vector<io::Turn> turns_;
};

}  // namespace ubique::nn
