// SPDX-License-Identifier: Apache-2.0
#include "ubique/nn/chat_session.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/models/trm/chat_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/io/text/utf8.h"
#include "ubique/models/trm/commands/commands.h"

namespace ubique::trm {
namespace {

nn::ChatOptions drawing(std::uint64_t seed, std::int64_t tokens = 6) {
  return {.sampling = {1, 0, 1}, .max_new_tokens = tokens, .seed = seed};
}

/// What is said over three questions.
std::string said(test::Speaker& speaker, const nn::ChatOptions& options) {
  ChatDecoder decoder(speaker.network, at::kFloat);
  nn::ChatSession talk(decoder, speaker.tokens, options);
  std::string all;
  for (const auto* question : {"a", "bc", "d"}) all += talk.ask(question).text + "|";
  return all;
}

}  // namespace

TEST_CASE("chat: one seed says the same, another something else, temperature 0 asks no seed") {
  test::Speaker speaker;
  CHECK(said(speaker, drawing(1)) == said(speaker, drawing(1)));
  CHECK(said(speaker, drawing(1)) != said(speaker, drawing(2)));
  auto greedy = drawing(1), other = drawing(2);
  greedy.sampling.temperature = other.sampling.temperature = 0;
  CHECK(said(speaker, greedy) == said(speaker, other));
}

TEST_CASE("chat: every answer is computed from the turns before it") {
  test::Speaker speaker;
  ChatDecoder decoder(speaker.network, at::kFloat);
  nn::ChatSession talk(decoder, speaker.tokens, drawing(1, 2));
  CHECK(talk.ask("a").prompt_tokens == 5);  // <|user|> a <|enduser|> <|sep|> <|assistant|>
  const auto second = talk.ask("b");
  CHECK(second.prompt_tokens >= 12);
  const auto beginning = speaker.tokens.prompt(std::span(talk.turns()).first(3));
  REQUIRE(decoder.tokens().size() >= beginning.size());
  CHECK(std::equal(beginning.begin(), beginning.end(), decoder.tokens().begin()));
  talk.forget();
  CHECK(talk.ask("a").prompt_tokens == 5);
}

TEST_CASE(
    "chat: a full window drops the oldest question with its answer, the system's turn stays") {
  test::Speaker speaker;  // room for 24 tokens
  ChatDecoder decoder(speaker.network, at::kFloat);
  nn::ChatSession talk(decoder, speaker.tokens, drawing(4, 3));
  talk.set_system("s");
  std::int64_t forgotten = 0;
  for (const auto* question : {"aaa", "bbb", "ccc", "ddd"}) {
    const auto answered = talk.ask(question);
    forgotten += answered.forgotten;
    CHECK(answered.forgotten % 2 == 0);
    CHECK(static_cast<std::int64_t>(decoder.tokens().size()) <= 24);
    CHECK(decoder.tokens().front() == speaker.tokens.start_of(io::Role::System));
  }
  CHECK(forgotten > 0);
  CHECK(talk.turns()[0] == io::Turn{io::Role::System, "s"});
  CHECK(talk.turns()[1].role == io::Role::User);
  CHECK(talk.turns()[talk.turns().size() - 2].text == "ddd");
}

TEST_CASE("chat: an answer longer than the window ends there and says so") {
  test::Speaker speaker;
  ChatDecoder decoder(speaker.network, at::kFloat);
  bool ended = false;
  for (std::uint64_t seed = 0; seed < 20 && !ended; ++seed) {
    nn::ChatSession talk(decoder, speaker.tokens, drawing(seed, 1000));
    const auto answered = talk.ask("a");
    ended = answered.end == nn::ReplyEnd::Window;
    if (ended) CHECK(answered.new_tokens == 20);  // 5 of the question, 19 read, one more chosen
  }
  CHECK(ended);
}

TEST_CASE("chat: text comes in whole characters and together is the answer") {
  test::Speaker speaker;
  ChatDecoder decoder(speaker.network, at::kFloat);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    nn::ChatSession talk(decoder, speaker.tokens, drawing(seed, 12));
    std::string shown;
    const auto answered = talk.ask("a", [&](std::string_view text) {
      CHECK(io::is_utf8(text));
      CHECK_FALSE(text.empty());
      shown += text;
      return true;
    });
    CHECK(shown == answered.text);
  }
}

TEST_CASE("chat: whoever shows the text can stop it") {
  test::Speaker speaker;
  ChatDecoder decoder(speaker.network, at::kFloat);
  auto options = drawing(1, 12);
  options.sampling.temperature = 0;
  nn::ChatSession talk(decoder, speaker.tokens, options);
  CHECK(talk.ask("a", [](std::string_view) { return false; }).end == nn::ReplyEnd::Stopped);
}

TEST_CASE(
    "chat: a question longer than the window, another tokenizer and wrong flags are refused") {
  test::Speaker speaker;
  ChatDecoder decoder(speaker.network, at::kFloat);
  nn::ChatSession talk(decoder, speaker.tokens, {});
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { (void)talk.ask(std::string(21, 'a')); }),
      "got 25 tokens with its markers, expected at most 24"));
  CHECK(talk.turns().empty());
  const io::Tokenizer larger(data::learn_chat_tokenizer({{{{io::Role::User, "abababab"}}}}, 300));
  const io::ChatTemplate others(larger);
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { nn::ChatSession(decoder, others, {}); }),
      "not the model's"));
  CHECK(test::contains(test::refusal_of(ErrorKind::Usage,
                                        [&] {
                                          nn::ChatSession(decoder, speaker.tokens, {{}, 0, 0});
                                        }),
                       "--max-new-tokens"));
}

TEST_CASE("chat: the tokenizer is found with a checkpoint or the run that it belongs to") {
  const test::ScratchFolder folder;
  const auto checkpoint = folder / "run/checkpoints/best";
  make_folder(checkpoint);
  make_folder(folder / "run/tokenizer");
  CHECK(find_chat_tokenizer(checkpoint) == folder / "run/tokenizer");
  CHECK(find_chat_tokenizer(checkpoint / "") == folder / "run/tokenizer");
  make_folder(checkpoint / "tokenizer");
  CHECK(find_chat_tokenizer(checkpoint) == checkpoint / "tokenizer");
  const test::ScratchFolder other;
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { (void)find_chat_tokenizer(other / "a/b/c/d"); }),
      "--tokenizer"));
}

}  // namespace ubique::trm
