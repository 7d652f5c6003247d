// SPDX-License-Identifier: Apache-2.0
// Objects and their chunks.
#include "ubique/serve/openai/answers.h"

#include <algorithm>

namespace ubique::serve {
namespace {

/// Why a completion ended, in OpenAI's words.
std::string finish_reason(const Json& event) {
  const auto end = event.value("end", "");
  return end == "length" || end == "window" ? "length" : "stop";
}

std::int64_t characters(const std::string& text) {
  return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

Json chat_token(const Json& token) {
  return {
      {"token", token.at("text")}, {"logprob", token.at("logprob")}, {"bytes", token.at("bytes")}};
}

}  // namespace

std::string stream_event(const Json& chunk) { return "data: " + json_text(chunk) + "\n\n"; }

OpenAiAnswer::OpenAiAnswer(const OpenAiCall& call, std::string id, std::int64_t created)
    : call_(call),
      id_(std::move(id)),
      created_(created),
      choices_(call.requests.size()),
      prompt_tokens_(call.requests.size(), 0),
      completion_tokens_(call.requests.size(), 0),
      open_(call.requests.size()) {
  call_.requests.clear();  // they can be long
}

Json OpenAiAnswer::frame(const char* object) const {
  return {{"id", id_}, {"object", object}, {"created", created_}, {"model", call_.model}};
}

Json OpenAiAnswer::logprobs_json(const Json& tokens, std::int64_t& offset) const {
  if (call_.logprobs < 0) return nullptr;
  if (call_.chat) {
    Json json = {{"content", Json::array()}, {"refusal", nullptr}};
    for (const auto& token : tokens) {
      auto entry = chat_token(token);
      entry["top_logprobs"] = Json::array();
      for (const auto& other : token.at("likeliest")) {
        entry["top_logprobs"].push_back(chat_token(other));
      }
      json["content"].push_back(std::move(entry));
    }
    return json;
  }
  Json json = {{"tokens", Json::array()},
               {"token_logprobs", Json::array()},
               {"top_logprobs", Json::array()},
               {"text_offset", Json::array()}};
  for (const auto& token : tokens) {
    auto likeliest = Json::object();
    for (const auto& other : token.at("likeliest")) {
      likeliest[other.at("text").get<std::string>()] = other.at("logprob");
    }
    const auto text = token.at("text").get<std::string>();
    likeliest[text] = token.at("logprob");  // OpenAI's list has the chosen one too
    json["tokens"].push_back(text);
    json["token_logprobs"].push_back(token.at("logprob"));
    json["top_logprobs"].push_back(std::move(likeliest));
    json["text_offset"].push_back(offset);
    offset += characters(text);
  }
  return json;
}

std::string OpenAiAnswer::chunk(std::size_t choice, Json part, const Json& tokens,
                                const std::string& finish) {
  auto json = frame(call_.chat ? "chat.completion.chunk" : "text_completion");
  Json entry = {{"index", choice}};
  entry.update(part);
  auto& state = choices_[choice];
  const bool none = tokens.empty();
  entry["logprobs"] = none ? Json(nullptr) : logprobs_json(tokens, state.text_offset);
  entry["finish_reason"] = finish.empty() ? Json(nullptr) : Json(finish);
  json["choices"] = Json::array({std::move(entry)});
  if (call_.include_usage) json["usage"] = nullptr;
  return stream_event(json);
}

std::string OpenAiAnswer::take(std::size_t choice, const Json& event) {
  const auto kind = event.value("event", "");
  auto& state = choices_.at(choice);
  const auto part = [&](const std::string& text) {
    return call_.chat ? Json{{"delta", text.empty() ? Json::object() : Json{{"content", text}}}}
                      : Json{{"text", text}};
  };
  const auto tokens = event.value("tokens", Json::array());
  std::string chunks;
  if (kind == "started") prompt_tokens_[choice] = event.value("prompt_tokens", std::int64_t{0});
  if (kind == "started" && call_.stream && call_.chat && !std::exchange(state.begun, true)) {
    chunks =
        chunk(choice, {{"delta", {{"role", "assistant"}, {"content", ""}}}}, Json::array(), {});
  }
  if (kind == "text") {
    has_text_ = true;
    const auto text = event.value("text", "");
    state.text += text;
    if (call_.stream) chunks = chunk(choice, part(text), tokens, {});
  }
  if (kind == "done" && state.finish.empty()) {
    --open_;
    state.finish = finish_reason(event);
    prompt_tokens_[choice] = event.value("prompt_tokens", std::int64_t{0});
    completion_tokens_[choice] = event.value("completion_tokens", std::int64_t{0});
    if (call_.stream) chunks = chunk(choice, part({}), tokens, state.finish);
  }
  if (!call_.stream) {
    for (const auto& token : tokens) state.tokens.push_back(token);
  }
  return chunks;
}

/// A prompt counts once, however many choices were asked for it.
Json OpenAiAnswer::usage() const {
  std::int64_t prompts = 0, completions = 0;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (i % static_cast<std::size_t>(call_.n) == 0) prompts += prompt_tokens_[i];
    completions += completion_tokens_[i];
  }
  return {{"prompt_tokens", prompts},
          {"completion_tokens", completions},
          {"total_tokens", prompts + completions}};
}

std::string OpenAiAnswer::end_of_stream() const {
  std::string text;
  if (call_.include_usage) {
    auto json = frame(call_.chat ? "chat.completion.chunk" : "text_completion");
    json["choices"] = Json::array();
    json["usage"] = usage();
    text = stream_event(json);
  }
  return text + "data: [DONE]\n\n";
}

Json OpenAiAnswer::whole() const {
  auto json = frame(call_.chat ? "chat.completion" : "text_completion");
  json["choices"] = Json::array();
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const auto& choice = choices_[i];
    Json entry = {{"index", i}};
    if (call_.chat) {
      entry["message"] = {{"role", "assistant"}, {"content", choice.text}, {"refusal", nullptr}};
    } else {
      entry["text"] = choice.text;
    }
    auto offset = choice.text_offset;
    entry["logprobs"] = logprobs_json(choice.tokens, offset);
    entry["finish_reason"] = choice.finish;
    json["choices"].push_back(std::move(entry));
  }
  json["usage"] = usage();
  return json;
}

}  // namespace ubique::serve
