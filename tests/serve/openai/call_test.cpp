// SPDX-License-Identifier: Apache-2.0
// Calls of OpenAI's interface: what they ask a worker for, and answers in their forms.
#include "ubique/serve/openai/call.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/serve/openai/answers.h"

using namespace ubique;
using namespace ubique::serve;
using test::contains;

namespace {

using Parse = OpenAiCall (*)(const Json&, std::uint64_t);

/// "PARAM: MESSAGE" of the refusal, or "accepted".
std::string refusal(Parse parse, const Json& body) {
  try {
    parse(body, 1);
  } catch (const OpenAiError& error) {
    CHECK(error.status == 400);
    CHECK(error.json()["error"]["type"] == "invalid_request_error");
    return error.param + ": " + error.message;
  }
  return "accepted";
}

Json completion(Json more) {
  more["model"] = "m";
  if (!more.contains("prompt")) more["prompt"] = "def f";
  return more;
}

Json chat(Json more) {
  more["model"] = "m";
  if (!more.contains("messages")) {
    more["messages"] = Json::array({{{"role", "user"}, {"content", "hi"}}});
  }
  return more;
}

/// The JSON of each event of a stream; "[DONE]" as a text.
std::vector<Json> events_of(std::string text) {
  std::vector<Json> events;
  for (auto end = text.find("\n\n"); end != std::string::npos; end = text.find("\n\n")) {
    const auto line = text.substr(0, end);
    REQUIRE(line.starts_with("data: "));
    const auto data = line.substr(6);
    events.push_back(data == "[DONE]" ? Json(data) : Json::parse(data));
    text.erase(0, end + 2);
  }
  CHECK(text.empty());
  return events;
}

Json token(const char* text, double logprob) {
  return {
      {"text", text},
      {"logprob", logprob},
      {"bytes", Json::array()},
      {"likeliest", Json::array({{{"text", "?"}, {"logprob", -0.5}, {"bytes", Json::array()}}})}};
}

}  // namespace

TEST_CASE("openai: a completion's parameters reach the worker; each choice has its own seed") {
  const auto call = parse_completion_call(completion({{"prompt", Json::array({"a", "b"})},
                                                      {"n", 2},
                                                      {"suffix", "end"},
                                                      {"temperature", 0},
                                                      {"seed", 7},
                                                      {"stop", "\n"},
                                                      {"max_tokens", 5},
                                                      {"logprobs", 3},
                                                      {"logit_bias", {{"12", -100}}}}),
                                          1);
  REQUIRE(call.requests.size() == 4);
  CHECK(call.requests[0]["prompt"] == "a");
  CHECK(call.requests[3]["prompt"] == "b");
  CHECK(call.requests[0]["seed"] == 7);
  CHECK(call.requests[1]["seed"] == 8);
  CHECK(call.requests[2]["suffix"] == "end");
  CHECK(call.requests[2]["stop"] == Json::array({"\n"}));
  CHECK(call.requests[2]["max_tokens"] == 5);
  CHECK(call.requests[2]["logprobs"] == 3);
  const auto usual = parse_completion_call(completion({}), 99);
  CHECK(usual.requests[0]["max_tokens"] == 16);
  CHECK(usual.requests[0]["seed"] == 99);
  CHECK(usual.requests[0]["logprobs"] == -1);
  const auto ids = parse_completion_call(completion({{"prompt", Json::parse("[[1, 2], [3]]")}}), 1);
  CHECK(ids.requests[1]["prompt"] == Json::array({3}));
}

TEST_CASE("openai: a chat's messages are texts in turns") {
  const auto call = parse_chat_call(
      chat({{"messages",
             {{{"role", "developer"}, {"content", "brief"}},
              {{"role", "user"},
               {"content",
                {{{"type", "text"}, {"text", "a"}}, {{"type", "text"}, {"text", "b"}}}}}}},
            {"stream", true},
            {"stream_options", {{"include_usage", true}}},
            {"user", "me"},
            {"max_completion_tokens", 9}}),
      1);
  CHECK(call.chat);
  CHECK(call.stream);
  CHECK(call.include_usage);
  CHECK(call.requests[0]["messages"][0]["role"] == "system");
  CHECK(call.requests[0]["messages"][1]["content"] == "ab");
  CHECK(call.requests[0]["max_tokens"] == 9);
}

TEST_CASE("openai: many choices of a long prompt, which would fill the memory, are refused") {
  const auto call = [](int choices) {
    return parse_completion_call(
        completion({{"n", choices}, {"prompt", std::string(1 << 20U, 'x')}}), 1);
  };
  CHECK(call(2).requests.size() == 2);
  try {
    call(128);
    FAIL("accepted");
  } catch (const OpenAiError& error) {
    CHECK(error.status == 400);
    CHECK(error.message.find("128.0 MiB of prompts together") != std::string::npos);
  }
}

TEST_CASE("openai: what is wrong or not to be had is refused by its name, never ignored") {
  const std::vector<std::pair<Json, std::string>> completions = {
      {{{"temperature", 3}}, "temperature: "},
      {{{"temperature", "hot"}}, "temperature: "},
      {{{"n", 0}}, "n: "},
      {{{"n", 1e300}}, "n: "},
      {{{"max_tokens", 0}}, "max_tokens: "},
      {{{"max_tokens", 1.5}}, "max_tokens: "},
      {{{"prompt", Json::array()}}, "prompt: "},
      {{{"prompt", Json::array({1, "a"})}}, "prompt: "},
      {{{"prompt", 3}}, "prompt: "},
      {{{"stop", Json::array({""})}}, "stop: "},
      {{{"stop", 3}}, "stop: "},
      {{{"logprobs", 21}}, "logprobs: "},
      {{{"best_of", 2}}, "best_of: "},
      {{{"logit_bias", {{"x", 1}}}}, "logit_bias: "},
      {{{"logit_bias", {{"1", 101}}}}, "logit_bias: "},
      {{{"seed", 1.5}}, "seed: "},
      {{{"echo", true}, {"logprobs", 1}}, "echo: "},
      {{{"stream_options", 3}}, "stream_options: "},
      {{{"tempreature", 1}}, "tempreature: "}};
  for (const auto& [more, begin] : completions) {
    const auto said = refusal(parse_completion_call, completion(more));
    CHECK_MESSAGE(said.starts_with(begin), json_text(more) << " gave " << said);
  }
  CHECK(contains(refusal(parse_completion_call, completion({{"tempreature", 1}})),
                 "Did you mean 'temperature'?"));
  const auto picture =
      Json::array({{{"role", "user"}, {"content", Json::array({{{"type", "image_url"}}})}}});
  const std::vector<std::pair<Json, std::string>> chats = {
      {{{"tools", Json::array({{{"type", "function"}}})}}, "tools: "},
      {{{"response_format", {{"type", "json_object"}}}}, "response_format: "},
      {{{"messages", Json::array()}}, "messages: "},
      {{{"messages", "hi"}}, "messages: "},
      {{{"messages", Json::array({3})}}, ": "},
      {{{"messages", Json::array({{{"role", "robot"}, {"content", "x"}}})}}, "messages: "},
      {{{"messages", picture}}, "messages: "},
      {{{"top_logprobs", 2}}, "top_logprobs: "},
      {{{"audio", {{"voice", "x"}}}}, "audio: "}};
  for (const auto& [more, begin] : chats) {
    const auto said = refusal(parse_chat_call, chat(more));
    CHECK_MESSAGE(said.starts_with(begin), json_text(more) << " gave " << said);
  }
  CHECK(refusal(parse_chat_call, chat({{"tools", Json::array()}, {"tool_choice", "auto"}})) ==
        "accepted");
  CHECK(refusal(parse_chat_call, Json::array()) != "accepted");
}

TEST_CASE("openai: a whole answer has texts, reasons and counts") {
  const auto call = parse_completion_call(completion({{"n", 2}, {"logprobs", 1}}), 1);
  OpenAiAnswer answer(call, "cmpl-1", 1700000000);
  for (std::size_t i = 0; i < 2; ++i) {
    answer.take(i, {{"event", "started"}, {"prompt_tokens", 3}});
    answer.take(
        i, {{"event", "text"}, {"text", "é x"}, {"tokens", {token("é", -0.1), token(" x", -0.2)}}});
    CHECK_FALSE(answer.complete());
    answer.take(i, {{"event", "done"},
                    {"end", i == 0 ? "length" : "stop"},
                    {"prompt_tokens", 3},
                    {"completion_tokens", 2}});
  }
  CHECK(answer.complete());
  const auto json = answer.whole();
  CHECK(json["object"] == "text_completion");
  CHECK(json["id"] == "cmpl-1");
  CHECK(json["choices"][0]["text"] == "é x");
  CHECK(json["choices"][0]["finish_reason"] == "length");
  CHECK(json["choices"][1]["finish_reason"] == "stop");
  CHECK(json["choices"][1]["logprobs"]["tokens"] == Json({"é", " x"}));
  CHECK(json["choices"][1]["logprobs"]["text_offset"] == Json({0, 1}));  // characters, not bytes
  CHECK(json["choices"][1]["logprobs"]["top_logprobs"][0]["?"] == -0.5);
  CHECK(json["usage"]["prompt_tokens"] == 3);  // once for both choices
  CHECK(json["usage"]["completion_tokens"] == 4);
  CHECK(json["usage"]["total_tokens"] == 7);
}

TEST_CASE("openai: a stream of a chat begins with the role and ends with usage and a mark") {
  const auto call =
      parse_chat_call(chat({{"stream", true}, {"stream_options", {{"include_usage", true}}}}), 1);
  OpenAiAnswer answer(call, "chatcmpl-1", 1);
  auto text = answer.take(0, {{"event", "started"}, {"prompt_tokens", 5}});
  CHECK(answer.take(0, {{"event", "started"}, {"prompt_tokens", 5}}).empty());
  text += answer.take(0, {{"event", "text"}, {"text", "Hel"}});
  text += answer.take(0, {{"event", "text"}, {"text", "lo"}});
  text += answer.take(
      0, {{"event", "done"}, {"end", "stop"}, {"prompt_tokens", 5}, {"completion_tokens", 2}});
  text += answer.end_of_stream();
  const auto events = events_of(text);
  REQUIRE(events.size() == 6);
  CHECK(events[0]["choices"][0]["delta"]["role"] == "assistant");
  CHECK(events[1]["choices"][0]["delta"]["content"] == "Hel");
  CHECK(events[2]["choices"][0]["delta"]["content"] == "lo");
  CHECK(events[2]["choices"][0]["finish_reason"].is_null());
  CHECK(events[3]["choices"][0]["finish_reason"] == "stop");
  CHECK(events[3]["choices"][0]["delta"].empty());
  CHECK(events[4]["usage"]["total_tokens"] == 7);
  CHECK(events[4]["choices"].empty());
  CHECK(events[5] == "[DONE]");
  for (std::size_t i = 0; i < 5; ++i) CHECK(events[i]["object"] == "chat.completion.chunk");
}
