// SPDX-License-Identifier: Apache-2.0
// Requests in slots over a decoder that says the alphabet: what is computed, how often, and why a
// completion ends.
#include "ubique/nn/decode/generator.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/data/chat/chat_samples.h"

using namespace ubique;

namespace {

/// After each letter comes the next, after z comes a. Counts what it computes.
class Alphabet final : public nn::Decoder {
 public:
  explicit Alphabet(const io::Tokenizer& tokenizer, std::int64_t slots = 1)
      : Decoder(slots), letters_(tokenizer.encode("abcdefghijklmnopqrstuvwxyz")) {}

  std::int64_t context_length() const override { return 60; }
  std::int64_t vocabulary() const override { return 266; }
  std::int64_t computed() const { return computed_; }

 private:
  nn::Predictions append(const nn::Extension& extension, std::int64_t predicted,
                         nn::Wanted wanted) override {
    CHECK(wanted == nn::Wanted::Likeliest);
    computed_ += static_cast<std::int64_t>(extension.tokens.size());
    nn::Predictions next;
    for (const auto token : extension.tokens.last(static_cast<std::size_t>(predicted))) {
      const auto found = std::ranges::find(letters_, token) - letters_.begin();
      next.likeliest.push_back(letters_[static_cast<std::size_t>(found + 1) % letters_.size()]);
    }
    return next;
  }

  std::vector<std::int32_t> letters_;
  std::int64_t computed_ = 0;
};

nn::GenerateOptions greedy(std::int64_t most, std::int64_t lookup = 0) {
  return {.sampling = {.temperature = 0}, .max_new_tokens = most, .lookup = lookup};
}

}  // namespace

TEST_CASE("generator: right guesses save passes, wrong ones change nothing") {
  const auto tokenizer = test::byte_tokenizer();
  const auto complete = [&](const char* prompt, std::int64_t lookup) {
    Alphabet decoder(tokenizer);
    return nn::generate(decoder, tokenizer.encode(prompt), tokenizer, greedy(20, lookup));
  };
  const auto plain = complete("abcdefghijklm ab", 0), guessed = complete("abcdefghijklm ab", 8);
  CHECK(plain.text == "cdefghijklmnopqrstuv");
  CHECK(plain.passes == 20);
  CHECK(guessed.text == plain.text);
  CHECK(guessed.passes < 13);                           // c to m were seen before, n to v were not
  CHECK(complete("abx abx ab", 8).text == plain.text);  // x is guessed and never comes
}

TEST_CASE("generator: a completion ends at its limit, its stop text and the context's end") {
  const auto tokenizer = test::byte_tokenizer();
  for (const std::int64_t lookup : {0, 6}) {
    Alphabet decoder(tokenizer);
    auto options = greedy(100, lookup);
    const auto prompt = tokenizer.encode("abcdefghijklmnopqrstuvwxyzabc");  // 29 of 60
    const auto full = nn::generate(decoder, prompt, tokenizer, options);
    CHECK(full.end == nn::CompletionEnd::Window);
    CHECK(full.text.size() == 32);  // 31 are computed, one follows them
    options.stop_texts = {"jk"};
    const auto stopped = nn::generate(decoder, prompt, tokenizer, options);
    CHECK(stopped.end == nn::CompletionEnd::Text);
    CHECK(stopped.text == "defghi");
    CHECK(nn::generate(decoder, prompt, tokenizer, greedy(3, lookup)).text == "def");
  }
}

TEST_CASE("generator: what a slot holds of a prompt is not computed again") {
  const auto tokenizer = test::byte_tokenizer();
  Alphabet decoder(tokenizer);
  const auto prompt = tokenizer.encode("abcdefghij");
  nn::generate(decoder, prompt, tokenizer, greedy(1));
  CHECK(decoder.computed() == 10);
  nn::generate(decoder, prompt, tokenizer, greedy(1));
  CHECK(decoder.computed() == 11);  // the last token alone
}

TEST_CASE("generator: more requests than slots are all answered") {
  const auto tokenizer = test::byte_tokenizer();
  Alphabet decoder(tokenizer, 2);
  nn::Generator generator(decoder, tokenizer);
  std::vector<std::string> texts;
  for (const auto* prompt : {"a", "k", "x", "m"}) {
    generator.submit({.prompt = tokenizer.encode(prompt),
                      .options = greedy(3),
                      .finished = [&](const auto& made) { texts.push_back(made.text); }});
  }
  while (generator.step()) {
  }
  std::ranges::sort(texts);
  CHECK(texts == std::vector<std::string>{"bcd", "lmn", "nop", "yza"});
  CHECK(test::refusal_of(ErrorKind::Input, [&] {
          generator.submit({.prompt = {}});
        }).find("does not fit") != std::string::npos);
}

TEST_CASE("generator: a prompt that fails does not take its neighbours along") {
  const auto tokenizer = test::byte_tokenizer();
  Alphabet decoder(tokenizer, 3);
  nn::Generator generator(decoder, tokenizer);
  std::vector<std::string> events;
  for (const auto token : {'a', '\0', 'k'}) {
    auto prompt = tokenizer.encode(std::string(1, token == '\0' ? 'b' : token));
    if (token == '\0') prompt.push_back(100000);
    generator.submit({.prompt = prompt,
                      .options = greedy(2),
                      .finished = [&](const auto& made) { events.push_back(made.text); },
                      .started = [&] { events.push_back("started"); },
                      .failed = [&](const Error&) { events.push_back("failed"); }});
  }
  generator.join();
  CHECK(events == std::vector<std::string>{"started", "started", "failed", "started"});
  CHECK(generator.running() == 2);
  while (generator.step()) {
  }
  CHECK(std::vector(events.end() - 2, events.end()) == std::vector<std::string>{"bc", "lm"});
}
