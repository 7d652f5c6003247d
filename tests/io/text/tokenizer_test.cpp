// SPDX-License-Identifier: Apache-2.0
// Encoding, decoding, word splitting, special tokens and tokenizer files.
#include "ubique/io/text/tokenizer.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tokenizer_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/base/numbers/random.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/text/unicode/unicode.h"

using namespace ubique;
using test::contains;
using test::refusal_of;

namespace {

using Ids = std::vector<std::int32_t>;

std::vector<std::string> words_of(const std::string& text, const io::WordSplit& steps) {
  std::vector<std::string> words;
  io::split_words(text, steps, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("tokenizer: pairs merge by rank, the leftmost first among equals") {
  const io::Tokenizer tokenizer(test::small_tokenizer());
  CHECK(tokenizer.encode("the") == Ids{test::kThe});
  CHECK(tokenizer.encode(" the the") == Ids{test::kBlankThe, test::kBlankThe});
  CHECK(tokenizer.encode("lll") == Ids{260, 'l'});
  CHECK(tokenizer.encode("thhe") == Ids{256, 257});  // th he
  CHECK(tokenizer.encode("").empty());
}

TEST_CASE("tokenizer: a special token typed in a text is plain text unless parsing is requested") {
  const io::Tokenizer tokenizer(test::small_tokenizer());
  const auto plain = tokenizer.encode("a<|end|>b");
  CHECK(plain == Ids{'a', '<', '|', 'e', 'n', 'd', '|', '>', 'b'});
  CHECK(tokenizer.decode(plain) == "a<|end|>b");
  const auto marked = tokenizer.encode("a<|end|>b", io::SpecialTokens::Parse);
  CHECK(marked == Ids{'a', test::kEnd, 'b'});
  CHECK(tokenizer.decode(marked) == "a<|end|>b");
  CHECK(tokenizer.decode(marked, true) == "ab");
  CHECK(tokenizer.is_special(test::kEnd));
}

TEST_CASE("tokenizer: the longest added token wins, and blanks go where a file says") {
  auto model = test::small_tokenizer();
  model.added.push_back({.id = 262, .content = "<|end|>er", .special = false});
  model.added.push_back(
      {.id = 263, .content = "@@", .special = false, .strip_left = true, .strip_right = true});
  const io::Tokenizer tokenizer(model);
  CHECK(tokenizer.encode("<|end|>er<|end|>", io::SpecialTokens::Parse) == Ids{262, test::kEnd});
  CHECK(tokenizer.encode("<|end|>er") == Ids{262});
  CHECK(tokenizer.encode("a \u00a0@@\n b") == Ids{'a', 263, 'b'});
}

TEST_CASE("tokenizer: any bytes survive, and invalid UTF-8 decodes to U+FFFD") {
  const io::Tokenizer tokenizer(test::small_tokenizer());
  const Random random(7);
  std::string text;
  for (std::uint64_t i = 0; i < 4000; ++i) text += static_cast<char>(random.below(i, 256));
  std::string bytes;
  for (const auto id : tokenizer.encode(text)) bytes += tokenizer.bytes(id);
  CHECK(bytes == text);
  CHECK(tokenizer.decode(Ids{0xE2, 0x82}) == "\uFFFD");
  CHECK(tokenizer.decode(Ids{0xE2, 0x82, 0xAC}) == "€");
  CHECK(tokenizer.decode(Ids{0x80, 0xF0, 0x90}) == "\uFFFD\uFFFD");
}

TEST_CASE("tokenizer: a megabyte without whitespace is merged like any other word") {
  const io::Tokenizer tokenizer(test::small_tokenizer());
  const std::string text(1'000'001, 'l');
  const auto ids = tokenizer.encode(text);
  REQUIRE(ids.size() == 500'001);
  CHECK(ids.front() == 260);
  CHECK(ids.back() == 'l');
}

TEST_CASE("tokenizer: GPT-2's pattern keeps contractions, joins one blank, splits kinds") {
  const io::WordSplit gpt2 = {io::SplitStep::Words};
  CHECK(words_of("We'll go, it's 42nd!", gpt2) ==
        Words{"We", "'ll", " go", ",", " it", "'s", " 42", "nd", "!"});
  CHECK(words_of("a  b \n", gpt2) == Words{"a", " ", " b", " \n"});
  CHECK(words_of("'S '", gpt2) == Words{"'", "S", " '"});
  CHECK(words_of("été\u2003x²", gpt2) == Words{"été", "\u2003", "x", "²"});
}

TEST_CASE("tokenizer: numbers are cut out singly or in runs, and a blank comes before") {
  CHECK(words_of("a12 3", {io::SplitStep::EachNumber}) == Words{"a", "1", "2", " ", "3"});
  CHECK(words_of("a12 3", {io::SplitStep::NumberRuns}) == Words{"a", "12", " ", "3"});
  CHECK(words_of("go on", {io::SplitStep::PrefixSpace, io::SplitStep::Words}) ==
        Words{" go", " on"});
  CHECK(words_of(" go", {io::SplitStep::PrefixSpace, io::SplitStep::Words}) == Words{" go"});
}

TEST_CASE("tokenizer: letters, numbers and blanks are Unicode's") {
  using io::CharacterClass;
  for (const char32_t letter : {U'a', U'é', U'ß', U'Я', U'中', U'ª', U'\U00020000'}) {
    CHECK(io::character_class(letter) == CharacterClass::Letter);
  }
  for (const char32_t number : {U'7', U'²', U'½', U'Ⅷ', U'٣', U'\U0001D7D8'}) {
    CHECK(io::character_class(number) == CharacterClass::Number);
  }
  for (const char32_t blank : {U' ', U'\t', U'\r', U'\u00a0', U'\u2028', U'\u3000'}) {
    CHECK(io::character_class(blank) == CharacterClass::Space);
  }
  for (const char32_t other : {U'_', U'\u200b', U'\u0301', U'\x1c', U'\U0001F600', U'\U0010FFFF'}) {
    CHECK(io::character_class(other) == CharacterClass::Other);
  }
}

TEST_CASE("utf8: the complete part of a text that ends inside a character") {
  CHECK(complete_utf8("ab") == 2);
  CHECK(complete_utf8("ab\xE2\x82") == 2);
  CHECK(complete_utf8("ab\xF0\x9F\x98") == 2);
  CHECK(complete_utf8("ab\xE2\x82\xAC") == 5);
  CHECK(complete_utf8("ab\x82") == 3);  // never becomes one
  CHECK(complete_utf8("\xE2\x41") == 2);
  CHECK(complete_utf8("") == 0);
}

TEST_CASE("tokenizer: special tokens join at the next free ids, and those there stay") {
  auto model = test::small_tokenizer();
  io::add_special_tokens(model, {"<|end|>", "<|user|>", "the"});
  const io::Tokenizer tokenizer(model);
  CHECK(tokenizer.find("<|end|>") == test::kEnd);
  CHECK(tokenizer.find("<|user|>") == 262);
  CHECK(tokenizer.find("the") == test::kThe);
  CHECK(tokenizer.is_special(test::kThe));
  CHECK(tokenizer.size() == 263);
}

TEST_CASE("tokenizer: a file is written, found in its folder and read as it was") {
  const test::ScratchFolder folder;
  auto model = test::small_tokenizer();
  model.split = {io::SplitStep::EachNumber, io::SplitStep::PrefixSpace, io::SplitStep::Words};
  io::write_tokenizer(folder / "tokenizer.json", model);
  const auto read = io::read_tokenizer(folder.path());
  CHECK(read.model().vocabulary == model.vocabulary);
  CHECK(read.model().merges == model.merges);
  CHECK(read.model().split == model.split);
  CHECK(read.find("<|end|>") == test::kEnd);
  CHECK(read.is_special(test::kEnd));
}

TEST_CASE("tokenizer: GPT-2's vocab.json and merges.txt are a tokenizer, endoftext is special") {
  const test::ScratchFolder folder;
  write_file(folder / "vocab.json", R"({"a":0,"b":1,"ab":2,"<|endoftext|>":3})");
  write_file(folder / "merges.txt", "#version: 0.2\na b\r\n");
  write_file(folder / "added_tokens.json", R"({"<|pad|>":4})");
  const auto read = io::read_tokenizer(folder.path());
  CHECK(read.encode("abz") == Ids{2});  // z has no token
  CHECK(read.lacks_bytes());
  CHECK(read.encode("a<|endoftext|><|pad|>", io::SpecialTokens::Parse) == Ids{0, 3, 4});
  CHECK(read.encode("<|endoftext|>").empty());
}

TEST_CASE("tokenizer: a folder without one says what was looked for") {
  const test::ScratchFolder folder;
  const auto message =
      refusal_of(ErrorKind::Input, [&] { (void)io::read_tokenizer(folder.path()); });
  CHECK(contains(message, "tokenizer.json, or vocab.json and merges.txt"));
}

TEST_CASE("tokenizer: ignore_merges takes words of the vocabulary whole") {
  auto model = test::small_tokenizer();
  model.vocabulary.emplace_back("hello", 262);
  CHECK(io::Tokenizer(model).encode("hello") == Ids{257, 260, 'o'});
  model.ignore_merges = true;
  CHECK(io::Tokenizer(model).encode("hello") == Ids{262});
}

TEST_CASE("tokenizer: plain text becomes no special token, neither as a word nor by merges") {
  auto model = test::small_tokenizer();
  model.added.push_back({.id = 262, .content = "stop"});
  model.vocabulary.emplace_back("hello", 263);
  model.added.push_back({.id = 263, .content = "hello"});
  model.ignore_merges = true;
  const io::Tokenizer words(model);
  CHECK(words.encode("stop") == Ids{'s', 't', 'o', 'p'});
  CHECK(words.encode("stop", io::SpecialTokens::Parse) == Ids{262});
  CHECK(words.encode("hello") == Ids{257, 260, 'o'});

  auto merged = test::small_tokenizer();
  const auto last = merged.merges.back();
  const auto spelling = last.first + last.second;
  const auto id = io::Tokenizer(merged).find(spelling).value();
  REQUIRE(io::Tokenizer(merged).encode(spelling) == Ids{id});
  merged.added.push_back({.id = id, .content = spelling});
  for (const auto token : io::Tokenizer(merged).encode(spelling)) CHECK(token != id);
}
