// SPDX-License-Identifier: Apache-2.0
// Chat sessions with a small TRM: seeds, turns, the context window, streaming and refusals.
#include "ubique/nn/decode/chat_session.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/base/scratch.h"
#include "tests/models/trm/chat_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/utf8.h"
#include "ubique/engine/walk/chat.h"

namespace ubique::trm {
namespace {

nn::ChatOptions sampled(std::uint64_t seed, std::int64_t tokens = 6) {
  return {.sampling = {1, 0, 1}, .max_new_tokens = tokens, .seed = seed};
}

/// The answers to three questions.
std::string conversation(test::ChatSample& sample, const nn::ChatOptions& options) {
  ChatDecoder decoder(sample.network, at::kFloat);
  nn::ChatSession session(decoder, sample.tokens, options);
  std::string all;
  for (const auto* question : {"a", "bc", "d"}) all += session.ask(question).text + "|";
  return all;
}

}  // namespace

TEST_CASE("chat: a seed gives one text, another seed another, temperature 0 depends on no seed") {
  test::ChatSample sample;
  CHECK(conversation(sample, sampled(1)) == conversation(sample, sampled(1)));
  CHECK(conversation(sample, sampled(1)) != conversation(sample, sampled(2)));
  auto greedy = sampled(1), other = sampled(2);
  greedy.sampling.temperature = other.sampling.temperature = 0;
  CHECK(conversation(sample, greedy) == conversation(sample, other));
}

TEST_CASE("chat: every answer is computed from the turns before it") {
  test::ChatSample sample;
  ChatDecoder decoder(sample.network, at::kFloat);
  nn::ChatSession session(decoder, sample.tokens, sampled(1, 2));
  CHECK(session.ask("a").prompt_tokens == 5);  // <|user|> a <|enduser|> <|sep|> <|assistant|>
  const auto second = session.ask("b");
  CHECK(second.prompt_tokens >= 12);
  const auto beginning = sample.tokens.prompt(std::span(session.turns()).first(3));
  REQUIRE(decoder.tokens().size() >= beginning.size());
  CHECK(std::equal(beginning.begin(), beginning.end(), decoder.tokens().begin()));
  session.forget();
  CHECK(session.ask("a").prompt_tokens == 5);
}

TEST_CASE(
    "chat: a full window drops the oldest question with its answer, the system's turn stays") {
  test::ChatSample sample;  // room for 24 tokens
  ChatDecoder decoder(sample.network, at::kFloat);
  nn::ChatSession session(decoder, sample.tokens, sampled(4, 3));
  session.set_system("s");
  std::int64_t forgotten = 0;
  for (const auto* question : {"aaa", "bbb", "ccc", "ddd"}) {
    const auto reply = session.ask(question);
    forgotten += reply.forgotten;
    CHECK(reply.forgotten % 2 == 0);
    CHECK(static_cast<std::int64_t>(decoder.tokens().size()) <= 24);
    CHECK(decoder.tokens().front() == sample.tokens.start_of(io::Role::System));
  }
  CHECK(forgotten > 0);
  CHECK(session.turns()[0] == io::Turn{io::Role::System, "s"});
  CHECK(session.turns()[1].role == io::Role::User);
  CHECK(session.turns()[session.turns().size() - 2].text == "ddd");
}

TEST_CASE("chat: an answer longer than the window ends there and reports it") {
  test::ChatSample sample;
  ChatDecoder decoder(sample.network, at::kFloat);
  bool ended = false;
  for (std::uint64_t seed = 0; seed < 20 && !ended; ++seed) {
    nn::ChatSession session(decoder, sample.tokens, sampled(seed, 1000));
    const auto reply = session.ask("a");
    ended = reply.end == nn::ReplyEnd::Window;
    if (ended) CHECK(reply.new_tokens == 20);  // 5 of the question, 19 read, one more chosen
  }
  CHECK(ended);
}

TEST_CASE("chat: text is shown in whole characters that add up to the answer") {
  test::ChatSample sample;
  ChatDecoder decoder(sample.network, at::kFloat);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    nn::ChatSession session(decoder, sample.tokens, sampled(seed, 12));
    std::string shown;
    const auto reply = session.ask("a", [&](std::string_view text) {
      CHECK(is_utf8(text));
      CHECK_FALSE(text.empty());
      shown += text;
      return true;
    });
    CHECK(shown == reply.text);
  }
}

TEST_CASE("chat: control characters of an answer do not reach the terminal, JSON has them") {
  test::ChatSample sample;
  ChatDecoder decoder(sample.network, at::kFloat);
  const auto has_controls = [](const std::string& text) {
    return std::ranges::any_of(text,
                               [](char c) { return c != '\n' && c != '\t' && c >= 0 && c < 32; });
  };
  int answers = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    nn::ChatSession session(decoder, sample.tokens, sampled(seed, 12));
    std::string shown;
    engine::Request request;
    request.print = [&](std::string_view text) { shown += text; };
    engine::ChatSettings settings;
    settings.one_shot = true;
    settings.prompt = "a";
    const auto outcome = engine::run_chat_session(session, request, settings, "chat");
    CHECK_FALSE(has_controls(shown));
    answers += has_controls(outcome.json["answers"][0]["answer"].get<std::string>()) ? 1 : 0;
  }
  CHECK(answers > 0);  // an untrained network says any byte
}

TEST_CASE("chat: the callback that shows the text can stop it") {
  test::ChatSample sample;
  ChatDecoder decoder(sample.network, at::kFloat);
  auto options = sampled(1, 12);
  options.sampling.temperature = 0;
  nn::ChatSession session(decoder, sample.tokens, options);
  CHECK(session.ask("a", [](std::string_view) { return false; }).end == nn::ReplyEnd::Stopped);
}

TEST_CASE(
    "chat: a question longer than the window, another tokenizer and wrong flags are refused") {
  test::ChatSample sample;
  ChatDecoder decoder(sample.network, at::kFloat);
  nn::ChatSession session(decoder, sample.tokens, {});
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { (void)session.ask(std::string(21, 'a')); }),
      "got 25 tokens with its markers, expected at most 24"));
  CHECK(session.turns().empty());
  const io::Tokenizer larger(data::train_chat_tokenizer({{{{io::Role::User, "abababab"}}}}, 300));
  const io::MarkerTemplate others(larger);
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { nn::ChatSession(decoder, others, {}); }),
      "not the model's"));
  CHECK(test::contains(test::refusal_of(ErrorKind::Usage,
                                        [&] {
                                          nn::ChatSession(decoder, sample.tokens, {{}, 0, 0});
                                        }),
                       "--max-new-tokens"));
}

TEST_CASE("chat: the tokenizer is found with a checkpoint or the run that it belongs to") {
  const test::ScratchFolder folder;
  const auto checkpoint = folder / "run/checkpoints/best";
  make_folder(checkpoint);
  make_folder(folder / "run/tokenizer");
  CHECK(engine::find_tokenizer(checkpoint) == folder / "run/tokenizer");
  CHECK(engine::find_tokenizer(checkpoint / "") == folder / "run/tokenizer");
  make_folder(checkpoint / "tokenizer");
  CHECK(engine::find_tokenizer(checkpoint) == checkpoint / "tokenizer");
  const test::ScratchFolder other;
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { (void)engine::find_tokenizer(other / "a/b/c/d"); }),
      "--tokenizer"));
}

}  // namespace ubique::trm
