// SPDX-License-Identifier: Apache-2.0
// Tokens are reported with the piece of text that their first byte is in.
#include "ubique/models/codelm/serve/answer.h"

#include <fmt/format.h>

#include "ubique/base/text/utf8.h"

namespace ubique::codelm {

std::string error_line(const std::string& id, const Error& error) {
  Json line = {{"event", "error"}, {"id", id.empty() ? Json(nullptr) : Json(id)}};
  line["kind"] = to_string(error.kind());
  line["message"] = error.what();
  return json_text(line) + "\n";
}

Answer::Answer(std::string id, const io::Tokenizer& tokenizer, std::string& out)
    : id_(std::move(id)), tokenizer_(tokenizer), out_(out) {
  text_begin_ = fmt::format(R"({{"event":"text","id":{},"text":)", json_text(id_));
}

void Answer::send(const Json& line) { out_ += json_text(line) + "\n"; }

void Answer::queued() { send({{"event", "queued"}, {"id", id_}}); }

void Answer::started(std::size_t prompt_tokens) {
  send({{"event", "started"}, {"id", id_}, {"prompt_tokens", prompt_tokens}});
}

void Answer::echo(std::string_view text) { out_ += text_begin_ + json_text(text) + "}\n"; }

Json Answer::token_json(const nn::TokenLogprob& logprob) const {
  const auto& bytes = tokenizer_.bytes(logprob.token);
  auto values = Json::array();
  for (const char byte : bytes) values.push_back(static_cast<unsigned char>(byte));
  return {{"id", logprob.token},
          {"text", replace_invalid_utf8(bytes)},
          {"bytes", values},
          {"logprob", logprob.logprob}};
}

void Answer::chosen(std::int32_t token, const std::vector<nn::TokenLogprob>& logprobs) {
  if (logprobs.empty()) return;
  auto json = token_json(logprobs.front());
  json["likeliest"] = Json::array();
  for (std::size_t i = 1; i < logprobs.size(); ++i) {
    json["likeliest"].push_back(token_json(logprobs[i]));
  }
  tokens_.push_back({bytes_, std::move(json)});
  if (!tokenizer_.is_special(token)) bytes_ += tokenizer_.bytes(token).size();
}

/// Tokens whose text was shown, or all that are left.
Json Answer::take_tokens(bool all) {
  auto reported = Json::array();
  while (!tokens_.empty() && (all || tokens_.front().begin < shown_)) {
    reported.push_back(std::move(tokens_.front().json));
    tokens_.pop_front();
  }
  return reported;
}

/// Most lines are these: written without an object.
void Answer::text(std::string_view text) {
  shown_ += text.size();
  out_ += text_begin_ + json_text(text);
  if (const auto tokens = take_tokens(/*all=*/false); !tokens.empty()) {
    out_ += R"(,"tokens":)" + json_text(tokens);
  }
  out_ += "}\n";
}

void Answer::finished(const nn::Completion& made, std::size_t prompt_tokens) {
  Json line = {{"event", "done"},
               {"id", id_},
               {"end", nn::to_string(made.end)},
               {"prompt_tokens", prompt_tokens},
               {"completion_tokens", made.tokens.size()},
               {"passes", made.passes}};
  // What a stop text cut off was not said.
  auto tokens = take_tokens(/*all=*/made.end != nn::CompletionEnd::Text);
  if (!tokens.empty()) line["tokens"] = std::move(tokens);
  send(line);
}

void Answer::failed(const Error& error) { out_ += error_line(id_, error); }

}  // namespace ubique::codelm
