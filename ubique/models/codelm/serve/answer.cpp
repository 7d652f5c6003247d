// SPDX-License-Identifier: Apache-2.0
// Tokens are reported with the piece of text that their first byte is in.
#include "ubique/models/codelm/serve/answer.h"

#include "ubique/base/text/utf8.h"

namespace ubique::codelm {

std::string error_line(const std::string& id, const Error& error) {
  Json line = {{"event", "error"}, {"id", id.empty() ? Json(nullptr) : Json(id)}};
  line["kind"] = to_string(error.kind());
  line["message"] = error.what();
  return json_text(line) + "\n";
}

void Answer::send(const Json& line) { out_ += json_text(line) + "\n"; }

void Answer::queued() { send({{"event", "queued"}, {"id", id_}}); }

void Answer::started(std::size_t prompt_tokens) {
  send({{"event", "started"}, {"id", id_}, {"prompt_tokens", prompt_tokens}});
}

void Answer::echo(std::string_view text) { send({{"event", "text"}, {"id", id_}, {"text", text}}); }

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

void Answer::add_tokens(Json& line, bool all) {
  if (tokens_.empty()) return;
  auto reported = Json::array();
  while (!tokens_.empty() && (all || tokens_.front().begin < shown_)) {
    reported.push_back(std::move(tokens_.front().json));
    tokens_.pop_front();
  }
  if (!reported.empty()) line["tokens"] = std::move(reported);
}

void Answer::text(std::string_view text) {
  shown_ += text.size();
  Json line = {{"event", "text"}, {"id", id_}, {"text", text}};
  add_tokens(line, /*all=*/false);
  send(line);
}

void Answer::finished(const nn::Completion& made, std::size_t prompt_tokens) {
  Json line = {{"event", "done"},
               {"id", id_},
               {"end", nn::to_string(made.end)},
               {"prompt_tokens", prompt_tokens},
               {"completion_tokens", made.tokens.size()},
               {"passes", made.passes}};
  // What a stop text cut off was not said.
  add_tokens(line, /*all=*/made.end != nn::CompletionEnd::Text);
  send(line);
}

void Answer::failed(const Error& error) { out_ += error_line(id_, error); }

}  // namespace ubique::codelm
