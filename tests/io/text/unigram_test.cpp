// SPDX-License-Identifier: Apache-2.0
// Unigram tokenizers: the likeliest tokens, unknown characters, SentencePiece's table.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/text/base64.h"
#include "ubique/base/text/json.h"
#include "ubique/io/text/tokenizer.h"
#include "ubique/io/text/unicode/graphemes.h"

using namespace ubique;
using Ids = std::vector<std::int32_t>;

namespace {

Json unigram_file() {
  Json file = {{"version", "1.0"},
               {"added_tokens", Json::array()},
               {"normalizer", nullptr},
               {"pre_tokenizer",
                {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "always"}}},
               {"post_processor", nullptr},
               {"decoder", {{"type", "Metaspace"}, {"replacement", "▁"}}}};
  file["added_tokens"].push_back({{"id", 0}, {"content", "<unk>"}, {"special", true}});
  file["model"] = {{"type", "Unigram"}, {"unk_id", 0}};
  auto& vocabulary = file["model"]["vocab"];
  for (const auto& [token, score] : {std::pair("<unk>", 0.0),
                                     {"▁", -2.0},
                                     {"a", -3.0},
                                     {"b", -3.0},
                                     {"ab", -4.0},
                                     {"▁a", -4.5},
                                     {"ba", -7.0},
                                     {"é", -5.0}}) {
    vocabulary.push_back({token, score});
  }
  return file;
}

io::Tokenizer unigram(const Json& file) { return io::parse_tokenizer_json(file.dump(), "t.json"); }

}  // namespace

TEST_CASE("unigram: the highest sum of scores wins, not the longest token") {
  const auto tokenizer = unigram(unigram_file());
  CHECK(tokenizer.encode("ab") == Ids{1, 4});      // ▁ ab: -6 beats ▁a b: -7.5
  CHECK(tokenizer.encode("a") == Ids{5});          // ▁a: -4.5 beats ▁ a: -5
  CHECK(tokenizer.encode("bab") == Ids{1, 3, 4});  // ▁ b ab: -9 beats ▁ ba b: -12
  CHECK(tokenizer.encode("a b") == Ids{5, 1, 3});
  CHECK(tokenizer.encode("") == Ids{});
  CHECK(tokenizer.decode(tokenizer.encode("ab ba é")) == "ab ba é");
}

TEST_CASE("unigram: a run of unknown characters is one token, or bytes if the file says so") {
  auto file = unigram_file();
  CHECK(unigram(file).encode("axyzb") == Ids{5, 0, 3});
  CHECK(unigram(file).encode("世a界") == Ids{1, 0, 2, 0});
  CHECK(unigram(file).encode("<unk>a") == Ids{1, 0, 2});  // as text, no token
  CHECK(unigram(file).encode("<unk>a", io::SpecialTokens::Parse) == Ids{0, 5});
  for (int byte = 0; byte < 256; ++byte) {
    file["model"]["vocab"].push_back({fmt::format("<0x{:02X}>", byte), -9.0});
  }
  CHECK(unigram(file).encode("x") == Ids{1, 0});
  file["model"]["byte_fallback"] = true;
  const auto tokenizer = unigram(file);
  CHECK(tokenizer.encode("世") == Ids{1, 8 + 0xE4, 8 + 0xB8, 8 + 0x96});
  CHECK(tokenizer.decode(tokenizer.encode("世")) == "世");
}

TEST_CASE("unigram: a written file is read again with the same meaning") {
  auto file = unigram_file();
  file["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers",
       {{{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}},
        {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}}}}};
  file["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "WhitespaceSplit"}}, file["pre_tokenizer"]}}};
  const auto tokenizer = unigram(file);
  const auto again = io::parse_tokenizer_json(io::tokenizer_json(tokenizer.model()), "again");
  for (const char* text : {"  a   b ", "ab\tba", "\u3000é", "x", ""}) {
    CHECK(again.encode(text) == tokenizer.encode(text));
  }
  CHECK(tokenizer.encode("  a   b ") == Ids{5, 1, 3});
}

TEST_CASE("unigram: the end of each token in the text") {
  const auto tokenizer = unigram(unigram_file());
  std::vector<std::size_t> ends;
  (void)tokenizer.encode("ab é", {}, &ends);  // ▁ ab ▁ é
  CHECK(ends == std::vector<std::size_t>{0, 2, 3, 5});
}

TEST_CASE("unigram: a table replaces the shortest text that a visible character begins with") {
  // A double-array trie by hand: the root's children at 16 ^ byte, of which only 'a' exists; it
  // ends a text, whose value is the offset of "b" in the texts.
  std::vector<std::uint32_t> units(256);
  units[0] = 128U << 10U;
  units[128U ^ 'a'] = 'a' | 1U << 8U | 1U << 10U;
  units[(128U ^ 'a') ^ 1U] = 0;  // value 0
  std::string table;
  const auto add = [&](std::uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) table += static_cast<char>(value >> (8 * i) & 0xFFU);
  };
  add(static_cast<std::uint32_t>(4 * units.size()));
  for (const auto unit : units) add(unit);
  table += std::string("b\0", 2);
  auto file = unigram_file();
  file["normalizer"] = {{"type", "Precompiled"}, {"precompiled_charsmap", base64(table)}};
  const auto tokenizer = unigram(file);
  CHECK(tokenizer.encode("a") == Ids{1, 3});
  CHECK(tokenizer.encode("a\u0301") == Ids{1, 3});  // the accent goes with it
  CHECK(tokenizer.encode("a\u0301\u0301") == Ids{1, 3});
  CHECK(tokenizer.encode("a\u0301\u0301\u0301") == Ids{1, 3, 0});  // too long: one by one
  const auto again = io::parse_tokenizer_json(io::tokenizer_json(tokenizer.model()), "again");
  CHECK(again.encode("aéa") == tokenizer.encode("aéa"));
}

TEST_CASE("unigram: faults of a file are named") {
  const auto refused = [](const std::string& pointer, const Json& value, const char* what) {
    auto file = unigram_file();
    file[Json::json_pointer(pointer)] = value;
    const auto message = test::refusal_of(ErrorKind::Input, [&] { (void)unigram(file); });
    CAPTURE(message);
    CHECK(test::contains(message, what));
  };
  refused("/model/vocab", Json::object(), "no vocabulary");
  refused("/model/vocab", Json::array(), "no vocabulary");
  refused("/model/vocab/2", {"a"}, "token 2 is not");
  refused("/model/vocab/2", {"a", "b"}, "token 2 is not");
  refused("/model/vocab/2", {"b", 1}, "'b' twice");
  refused("/model/unk_id", 99, "unk_id is no token");
  refused("/model/unk_id", -1, "invalid token id");
  refused("/normalizer", {{"type", "Replace"}, {"pattern", {{"Regex", "x"}}}, {"content", ""}},
          "normalizer 'Replace'");
}

TEST_CASE("tokenizer: words and punctuation apart, spaces between decoded tokens") {
  auto file = unigram_file();
  file["pre_tokenizer"] = {{"type", "Whitespace"}};
  file["decoder"] = nullptr;
  file["model"] = {{"type", "BPE"},
                   {"unk_token", "<unk>"},
                   {"vocab", {{"<unk>", 0}, {"a", 1}, {"b", 2}, {"ab", 3}, {"!", 4}, {"!!", 5}}},
                   {"merges", {"a b", "! !"}}};
  const auto tokenizer = unigram(file);
  CHECK(tokenizer.encode("ab!!a b\tx") == Ids{3, 5, 1, 2, 0});
  CHECK(tokenizer.encode("xyab") == Ids{0, 0, 3});  // unknown ones stay apart
  CHECK(tokenizer.decode(Ids{3, 5, 1}) == "ab !! a");
  const auto again = io::parse_tokenizer_json(io::tokenizer_json(tokenizer.model()), "again");
  CHECK(again.encode("ab!!a b\tx") == tokenizer.encode("ab!!a b\tx"));
  CHECK(again.decode(Ids{3, 5, 1}) == "ab !! a");
}

TEST_CASE("graphemes: accents, line ends, controls, Korean letters and prepended marks") {
  const auto first = [](std::string_view text) { return io::grapheme_end(text, 0); };
  CHECK(first("ab") == 1);
  CHECK(first("e\u0301x") == 3);
  CHECK(first("e\u0301\u0308x") == 5);
  CHECK(first("\r\nx") == 2);
  CHECK(first("\r\rx") == 1);
  CHECK(first("\n\u0301") == 1);
  CHECK(first("\u0301\u0301") == 4);
  CHECK(first("\u1100\u1161\u11a8x") == 9);
  CHECK(first("\uac00\u11a8\uac00") == 6);
  CHECK(first("\u0600a") == 3);
  CHECK(first("\u0e01\u0e33x") == 6);
  CHECK(first("a\u200bx") == 1);
  CHECK(first("a\u200dx") == 4);
  CHECK(first("\xff\u0301") == 1);
}
