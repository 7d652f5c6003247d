// SPDX-License-Identifier: Apache-2.0
// Trained vocabularies: the order of merges, determinism, special tokens.
#include "ubique/io/text/tokenizer_trainer.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/numbers/random.h"

using namespace ubique;

namespace {

using Merges = std::vector<std::pair<std::string, std::string>>;

io::TokenizerModel learnt(const std::vector<std::string>& texts, io::TrainerOptions options) {
  io::TokenizerTrainer trainer(std::move(options));
  for (const auto& text : texts) trainer.add(text);
  return trainer.train();
}

/// Synthetic words of a few syllables, some frequent and most rare.
std::vector<std::string> babble(std::int64_t lines) {
  const std::vector<std::string> syllables = {"ka", "to", "mi", "ru", "shé", "na", "l", "or"};
  const Random random(3);
  std::vector<std::string> texts;
  std::uint64_t at = 0;
  for (std::int64_t line = 0; line < lines; ++line) {
    std::string text;
    for (int word = 0; word < 12; ++word) {
      const auto parts = 1 + random.below(at++, 3);
      for (std::uint64_t part = 0; part < parts; ++part) {
        const auto pick = random.uniform(at++);
        text += syllables[static_cast<std::size_t>(pick * pick * 8)];
      }
      text += ' ';
    }
    texts.push_back(text);
  }
  return texts;
}

}  // namespace

TEST_CASE(
    "tokenizer trainer: the most frequent pair merges first, among equals the one with lower ids") {
  const auto model = learnt({"abab abab cdcd"}, {.size = 256 + 4, .min_count = 2});
  // ab occurs four times, cd and abab twice each, a space before abab once.
  const Merges expected = {{"a", "b"}, {"c", "d"}, {"ab", "ab"}};
  CHECK(model.merges == expected);
  CHECK(model.vocabulary.size() == 259);
}

TEST_CASE("tokenizer trainer: runs of one letter are counted where they can merge") {
  const auto model = learnt({"aaaa aaaa"}, {.size = 300, .min_count = 2});
  const Merges expected = {{"a", "a"}, {"aa", "aa"}};
  CHECK(model.merges == expected);
}

TEST_CASE("tokenizer trainer: special tokens come first, then all bytes by their character") {
  const auto model = learnt({"x"}, {.size = 258, .special = {"<|pad|>", "<|end|>"}});
  const io::Tokenizer tokenizer(model);
  CHECK(tokenizer.size() == 258);
  CHECK(tokenizer.find("<|end|>") == 1);
  CHECK(tokenizer.is_special(1));
  CHECK(tokenizer.spelling(2) == "!");
  CHECK_FALSE(tokenizer.lacks_bytes());
}

TEST_CASE("tokenizer trainer: the order of the texts has no effect") {
  auto texts = babble(300);
  const auto first = io::tokenizer_json(learnt(texts, {.size = 512}));
  std::reverse(texts.begin(), texts.end());
  CHECK(io::tokenizer_json(learnt(texts, {.size = 512})) == first);
  CHECK(io::Tokenizer(learnt(texts, {.size = 512})).size() == 512);
}

TEST_CASE("tokenizer trainer: the training texts are compressed and decoded again") {
  const auto texts = babble(200);
  const io::Tokenizer tokenizer(learnt(texts, {.size = 512}));
  std::size_t bytes = 0, tokens = 0;
  for (const auto& text : texts) {
    const auto ids = tokenizer.encode(text);
    CHECK(tokenizer.decode(ids) == text);
    bytes += text.size();
    tokens += ids.size();
  }
  CHECK(tokens * 2 < bytes);
}

TEST_CASE("tokenizer trainer: it stops where pairs are too rare") {
  CHECK(learnt({"abc"}, {.size = 1000, .min_count = 2}).merges.empty());
  CHECK(learnt({"abc"}, {.size = 1000, .min_count = 1}).merges.size() == 2);
}

TEST_CASE("tokenizer trainer: a vocabulary without room for the bytes is refused") {
  const auto message = test::refusal_of(ErrorKind::Usage, [] {
    (void)io::TokenizerTrainer({.size = 257, .special = {"<|pad|>", "<|end|>"}});
  });
  CHECK(test::contains(message, "got 257, expected 258"));
}
