// SPDX-License-Identifier: Apache-2.0
// What newer tokenizers add: the patterns of Llama 3 and Qwen 2, NFC, flags of added tokens, tokens
// around a text, vocabularies over characters, and where each token ends.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tokenizer_samples.h"
#include "ubique/base/numbers/random.h"
#include "ubique/base/text/json.h"
#include "ubique/io/text/tokenizer_encode.h"
#include "ubique/io/text/unicode/letter_case.h"
#include "ubique/io/text/unicode/normal_form.h"
#include "ubique/io/text/unicode/unicode.h"

using namespace ubique;

namespace {

using TokenIds = std::vector<std::int32_t>;
using Pieces = std::vector<std::string>;

Pieces pieces_of(const std::string& text, const io::WordSplit& steps, bool first = true) {
  Pieces pieces;
  io::split_words(
      text, steps, [&](std::string_view word) { pieces.emplace_back(word); }, first);
  return pieces;
}

/// Ids: <unk> 0, <s> 1, </s> 2, bytes from 3, then ▁ h i ▁h ▁hi.
io::TokenizerModel character_model() {
  io::TokenizerModel model;
  std::int32_t id = 0;
  const auto add = [&](const std::string& spelling) {
    model.vocabulary.emplace_back(spelling, id++);
  };
  for (const auto* special : {"<unk>", "<s>", "</s>"}) {
    model.added.push_back({.id = id, .content = special});
    add(special);
  }
  for (int byte = 0; byte < 256; ++byte) add(fmt::format("<0x{:02X}>", byte));
  for (const auto* spelling : {"▁", "h", "i", "▁h", "▁hi"}) add(spelling);
  model.merges = {{"▁", "h"}, {"▁h", "i"}};
  model.units = io::TokenUnits::Characters;
  model.split = {};
  model.normal = {io::NormalStep::PrependMark, io::NormalStep::SpacesToMarks};
  model.unknown = "<unk>";
  model.strip_decoded = true;
  model.begin = {1};
  return model;
}

io::TokenizerModel read_again(const io::TokenizerModel& model) {
  return io::parse_tokenizer_json(io::tokenizer_json(model), "again").model();
}

}  // namespace

TEST_CASE("tokenizer: Llama 3's pattern keeps three numbers together, Qwen 2's one") {
  const io::WordSplit llama = {io::SplitStep::Llama3Words}, qwen = {io::SplitStep::Qwen2Words};
  CHECK(pieces_of("x=12345;", llama) == Pieces{"x", "=", "123", "45", ";"});
  CHECK(pieces_of("x=123", qwen) == Pieces{"x", "=", "1", "2", "3"});
  CHECK(pieces_of("We'LL don't", llama) == Pieces{"We", "'LL", " don", "'t"});
  CHECK(pieces_of("a.b\tc (d)", llama) == Pieces{"a", ".b", "\tc", " (", "d", ")"});
  CHECK(pieces_of("if x:\n    y\n\n\n  z", llama) ==
        Pieces{"if", " x", ":\n", "   ", " y", "\n\n\n", " ", " z"});
  CHECK(pieces_of(" \n \n  ", qwen) == Pieces{" \n \n", "  "});
  CHECK(pieces_of("'ſ 'x", qwen) == Pieces{"'ſ", " '", "x"});
}

TEST_CASE("tokenizer: marks take the place of spaces, before the first piece or each") {
  using io::SplitStep;
  CHECK(pieces_of("a b", {SplitStep::SpaceMarks}) == Pieces{"a▁b"});
  CHECK(pieces_of("a b", {SplitStep::MarkFirst}) == Pieces{"▁a▁b"});
  CHECK(pieces_of("a b", {SplitStep::MarkFirst}, false) == Pieces{"a▁b"});
  CHECK(pieces_of(" a b", {SplitStep::MarkEach, SplitStep::CutAtMarks}, false) ==
        Pieces{"▁a", "▁b"});
}

TEST_CASE("unicode: NFC composes, decomposes what must be, and orders marks") {
  CHECK(io::to_nfc("e\u0301") == "é");
  CHECK(io::to_nfc("\u212b \u2126") == "Å Ω");
  CHECK(io::to_nfc("q\u0307\u0323") == "q\u0323\u0307");
  CHECK(io::to_nfc("\u1e0b\u0323") == "\u1e0d\u0307");
  CHECK(io::to_nfc("\u1100\u1161\u11a8") == "각");
  CHECK(io::to_nfc("\u0958") == "\u0915\u093c");  // composed forms that are excluded
  CHECK(io::to_nfc("a\xff\u0301") == "a\xff\u0301");
  CHECK(io::is_surely_nfc("plain ASCII é"));
  CHECK_FALSE(io::is_surely_nfc("e\u0301"));
  std::vector<std::size_t> origins;
  CHECK(io::to_nfc("ae\u0301b", &origins) == "aéb");
  CHECK(origins == std::vector<std::size_t>{0, 1, 1, 4});
}

TEST_CASE("unicode: letters change case as Python has it, and words have letters, marks, digits") {
  CHECK(io::upper_case("straße ǆ é я") == "STRASSE Ǆ É Я");
  CHECK(io::lower_case("ÀΣİ") == "àσi\u0307");
  CHECK(io::title_case("ǆ") == "ǅ");
  for (const char32_t word : {U'a', U'_', U'7', U'\u0301', U'中', U'\u200d', U'Ⓐ'}) {
    CHECK(io::is_word_character(word));
  }
  for (const char32_t other : {U' ', U'-', U'²', U'\U0001F600'}) {
    CHECK_FALSE(io::is_word_character(other));
  }
}

TEST_CASE("tokenizer: NFC applies between tokens matched as they are, before the others") {
  auto model = test::small_tokenizer();
  model.normal = {io::NormalStep::Nfc};
  model.added.push_back({.id = 262, .content = "e\u0301!", .special = false});
  model.added.push_back({.id = 263, .content = "o\u0301!", .special = false, .normalized = true});
  const io::Tokenizer tokenizer(read_again(model));
  CHECK(tokenizer.encode("e\u0301") == TokenIds{0xC3, 0xA9});
  CHECK(tokenizer.encode("e\u0301!") == TokenIds{262});
  CHECK(tokenizer.encode("é!") == TokenIds{0xC3, 0xA9, '!'});
  CHECK(tokenizer.encode("o\u0301!") == TokenIds{263});
  CHECK(tokenizer.encode("ó!") == TokenIds{263});
}

TEST_CASE("tokenizer: a token that is a single word is not found inside another") {
  auto model = test::small_tokenizer();
  model.added.push_back({.id = 262, .content = "on", .special = false, .single_word = true});
  const io::Tokenizer tokenizer(read_again(model));
  CHECK(tokenizer.encode("on") == TokenIds{262});
  CHECK(tokenizer.encode("(on)") == TokenIds{'(', 262, ')'});
  CHECK(tokenizer.encode("ton") == TokenIds{'t', 'o', 'n'});
  CHECK(tokenizer.encode("on_") == TokenIds{'o', 'n', '_'});
}

TEST_CASE("tokenizer: tokens frame a text only where they are asked for") {
  auto model = test::small_tokenizer();
  model.begin = {test::kEnd};
  model.end = {test::kEnd, 'x'};
  const io::Tokenizer tokenizer(read_again(model));
  CHECK(tokenizer.encode("a") == TokenIds{'a'});
  CHECK(tokenizer.encode("a", {.frame = true}) == TokenIds{test::kEnd, 'a', test::kEnd, 'x'});
}

TEST_CASE("tokenizer: characters without a token become bytes, marks spaces again") {
  const io::Tokenizer tokenizer(read_again(character_model()));
  constexpr std::int32_t kByte = 3, kMark = 259, kMarkHi = 263;
  CHECK(tokenizer.encode("hi hi") == TokenIds{kMarkHi, kMarkHi});
  CHECK(tokenizer.encode("é") == TokenIds{kMark, kByte + 0xC3, kByte + 0xA9});
  CHECK(tokenizer.encode("hi</s>hi", io::SpecialTokens::Parse) == TokenIds{kMarkHi, 2, kMarkHi});
  CHECK(tokenizer.encode("", {.frame = true}) == TokenIds{1});
  CHECK(tokenizer.decode(tokenizer.encode("hi é!\n")) == "hi é!\n");
  CHECK(tokenizer.decode(TokenIds{kByte + 0xC3, kByte + 0xC3}) == "\uFFFD\uFFFD");
}

TEST_CASE("tokenizer: special tokens stay text in the ranges that are plain") {
  const io::Tokenizer tokenizer(test::small_tokenizer());
  const std::string text = "<|end|><|end|>";
  const std::vector<io::TextRange> plain = {{7, 14}};
  const auto ids = tokenizer.encode(text, {.special = io::SpecialTokens::Parse, .plain = plain});
  CHECK(ids == TokenIds{test::kEnd, '<', '|', 'e', 'n', 'd', '|', '>'});
  const std::vector<io::TextRange> one_byte = {{3, 4}};
  CHECK(tokenizer.encode(text, {.special = io::SpecialTokens::Parse, .plain = one_byte}).back() ==
        test::kEnd);
}

TEST_CASE("tokenizer: the ends of tokens lead back to the text, before it was normalised") {
  auto model = test::small_tokenizer();
  const io::Tokenizer plain(model);
  std::vector<std::size_t> ends;
  CHECK(plain.encode("the <|end|> the", {.special = io::SpecialTokens::Parse}, &ends).size() == 4);
  CHECK(ends == std::vector<std::size_t>{3, 4, 11, 15});
  model.normal = {io::NormalStep::Nfc};
  CHECK(io::Tokenizer(model).encode("e\u0301a", io::EncodeOptions{}, &ends) ==
        TokenIds{0xC3, 0xA9, 'a'});
  CHECK(ends == std::vector<std::size_t>{0, 3, 4});
  const io::Tokenizer characters(character_model());
  CHECK(characters.encode("hi hi", io::EncodeOptions{}, &ends).size() == 2);
  CHECK(ends == std::vector<std::size_t>{2, 5});
}

TEST_CASE("tokenizer: an encoder that remembers words gives the ids of one that does not") {
  const io::Tokenizer tokenizer(test::small_tokenizer());
  io::TokenEncoder encoder(tokenizer);
  const Random random(11);
  std::uint64_t at = 0;
  for (int text = 0; text < 200; ++text) {
    std::string made;
    for (auto count = random.below(at++, 60); count > 0; --count) {
      made += "thel ,\n"[random.below(at++, 7)];
    }
    CHECK(encoder.encode(made) == tokenizer.encode(made));
  }
}

TEST_CASE("tokenizer: more different words than the cache holds change nothing") {
  const io::Tokenizer tokenizer(test::small_tokenizer());
  io::TokenEncoder encoder(tokenizer);
  std::string text;
  for (int word = 0; word < 150'000; ++word) text += fmt::format(" the{:x}", word * 2654435761U);
  const auto ids = encoder.encode(text);
  CHECK(tokenizer.decode(ids) == text);
  CHECK(encoder.encode(text) == ids);
}
