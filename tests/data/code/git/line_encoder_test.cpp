// SPDX-License-Identifier: Apache-2.0
// Texts encoded line by line, and word by word, have the tokens of the whole text; no secret is
// overlooked.
#include "ubique/data/code/git/line_encoder.h"

#include <doctest/doctest.h>

#include "tests/data/code/code_samples.h"
#include "ubique/base/numbers/random.h"
#include "ubique/data/code/filter/secrets.h"

using namespace ubique;

namespace {

/// A tokenizer with merges, whose words have several tokens.
io::Tokenizer merging_tokenizer(io::WordSplit split) {
  io::TokenizerTrainer trainer(
      {.size = 340, .special = test::code_special_tokens(), .split = split});
  trainer.add("for (int i = 0; i < 10; ++i) {\n  total += values[i];\n  }\n\n  return total;\n");
  trainer.add("    api_key = secret  \n\n\tthe values' totals don't return\n  for the key\n");
  return io::Tokenizer(trainer.train());
}

std::string some_secret(std::uint64_t kind) {
  const std::string letters = "q7Rt2WzX9bLm4KpV8sYc3NdF6hJg";
  if (kind == 0) return "ghp" + std::string("_") + letters + "12345678";
  if (kind == 1) return "postgres://joe:hunter22@db/x";
  if (kind == 2) return "api_key = \"" + letters + "\"";
  return "-----BEGIN RSA PRIVATE " + std::string("KEY-----\nMIIabc\n-----END RSA PRIVATE ") +
         "KEY-----";
}

/// Pieces of code, whitespace of every kind, and rarely a secret, in any order.
std::string random_text(std::uint64_t seed, bool secrets) {
  const std::vector<std::string> pieces = {"\n",
                                           "\n",
                                           "\n",
                                           "  ",
                                           " ",
                                           "\t",
                                           "\r\n",
                                           "\u00a0",
                                           "for",
                                           "don't",
                                           "12",
                                           "7",
                                           "{",
                                           "};",
                                           "é",
                                           "中",
                                           "--",
                                           "=",
                                           ":",
                                           "\"",
                                           "values[i]",
                                           "<filename>",
                                           "'",
                                           "\xff",
                                           std::string(60, 'w'),
                                           std::string(300, '-'),
                                           "total += 10;",
                                           "\u2003\n",
                                           "key: "};
  const Random random(seed);
  std::string text;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const bool secret = secrets && random.below(2 * i, 40) == 0;
    text += secret ? some_secret(random.below(2 * i + 1, 4))
                   : pieces[random.below(2 * i + 1, pieces.size())];
  }
  return text;
}

}  // namespace

TEST_CASE("text encoder: words of all lengths have the tokens of the tokenizer") {
  const auto tokenizer = merging_tokenizer({io::SplitStep::EachNumber, io::SplitStep::Words});
  data::TextEncoder encoder(tokenizer);
  CHECK(encoder.by_words());
  for (int turn = 0; turn < 2; ++turn) {  // the second time from memory
    for (std::size_t length = 1; length < 80; ++length) {
      for (std::size_t place = 0; place < length; ++place) {  // words that differ in one byte
        std::string word(length, 'a');
        word[place] = 'b';
        CHECK(encoder.encode(word) == tokenizer.encode(word));
      }
    }
  }
}

TEST_CASE("line encoder: the tokens are those of the whole text") {
  for (const auto& split :
       {io::WordSplit{io::SplitStep::EachNumber, io::SplitStep::Words},
        io::WordSplit{io::SplitStep::NumberRuns, io::SplitStep::Words},
        io::WordSplit{io::SplitStep::Words}, io::WordSplit{io::SplitStep::Llama3Words}}) {
    const auto tokenizer = merging_tokenizer(split);
    data::TextEncoder words(tokenizer);
    data::LineEncoder lines(words);
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      const auto text = random_text(seed % 200, false);  // some come again
      std::vector<std::int32_t> ids = {7};
      lines.encode(text, ids);
      auto expected = tokenizer.encode(text);
      expected.insert(expected.begin(), 7);
      CHECK(ids == expected);
    }
    std::vector<std::int32_t> none;
    lines.encode("", none);
    CHECK(none.empty());
  }
}

TEST_CASE("line encoder: no secret is overlooked, whatever stands around it") {
  const auto tokenizer = merging_tokenizer({io::SplitStep::EachNumber, io::SplitStep::Words});
  data::TextEncoder words(tokenizer);
  data::LineEncoder lines(words);
  int with = 0, cleared = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    // As documents are made: special tokens between texts, of which the first may end anywhere.
    const auto first = random_text(2 * seed, seed % 3 != 0);
    const auto second = random_text(2 * seed + 1, seed % 3 != 0);
    std::vector<std::int32_t> ids;
    const bool none = lines.encode(first, ids) & lines.encode(second, ids);
    const bool found = !data::find_secrets(first + "<commit_after>" + second).empty();
    if (found) CHECK_FALSE(none);
    with += found ? 1 : 0;
    cleared += none ? 1 : 0;
  }
  CHECK(with > 100);
  CHECK(cleared > 100);
}

TEST_CASE("line encoder: a tokenizer that loses bytes clears no text") {
  io::TokenizerModel model;
  model.vocabulary = {{"a", 0}, {"b", 1}};
  const io::Tokenizer tokenizer(model);
  data::TextEncoder words(tokenizer);
  data::LineEncoder lines(words);
  std::vector<std::int32_t> ids;
  CHECK_FALSE(lines.encode("abc", ids));
  CHECK(ids == tokenizer.encode("abc"));
}
