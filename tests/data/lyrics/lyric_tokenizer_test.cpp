// SPDX-License-Identifier: Apache-2.0
// Lyrics against the original's ids; the vocabulary lies beside the project.
#include "ubique/data/lyrics/lyric_tokenizer.h"

#include <doctest/doctest.h>

#include "tests/shared.h"
#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/io/text/tokenizer_encode.h"

using namespace ubique;

namespace {

using Ids = std::vector<std::int32_t>;

/// Both folders, or nothing and a printed reason.
struct LyricGoldens {
  std::filesystem::path data = test::shared_folder("data/acestep");
  std::filesystem::path golden = test::shared_folder("golden/acestep/lyric");
  bool present() const { return !data.empty() && !golden.empty(); }
  data::LyricTokenizer tokenizer() const { return data::LyricTokenizer(data / "lyric_vocab.json"); }
  Json read(const std::string& name) const {
    return parse_json(read_file(golden / (name + ".json")), name);
  }
};

}  // namespace

TEST_CASE("lyrics: BPE alone gives the original's ids") {
  const LyricGoldens goldens;
  if (!goldens.present()) return;
  const auto tokenizer = goldens.tokenizer();
  const auto file = goldens.read("bpe_core");
  REQUIRE(file["items"].size() > 5);
  for (const auto& item : file["items"]) {
    const auto text = item["text"].get<std::string>();
    CAPTURE(text);
    CHECK(tokenizer.vocabulary().encode(text, io::SpecialTokens::Parse) == item["ids"].get<Ids>());
  }
  CHECK(tokenizer.vocabulary().size() == 6693);
}

TEST_CASE("lyrics: each line read as a given language is cleaned and cut as the original does") {
  const LyricGoldens goldens;
  if (!goldens.present()) return;
  const auto tokenizer = goldens.tokenizer();
  const auto file = goldens.read("forced_language");
  REQUIRE(file["items"].size() > 5);
  for (const auto& item : file["items"]) {
    const auto line = item["line"].get<std::string>();
    const auto* language = data::find_lyric_language(item["lang"].get<std::string>());
    REQUIRE(language != nullptr);
    CAPTURE(line);
    CAPTURE(language->name);
    CHECK(data::LyricTokenizer::clean_line(line, *language) == item["clean"].get<std::string>());
    CHECK(tokenizer.encode_line(line, *language) == item["ids"].get<Ids>());
  }
}

TEST_CASE("lyrics: whole calls give the original's ids for the language that it used") {
  const LyricGoldens goldens;
  if (!goldens.present()) return;
  const auto tokenizer = goldens.tokenizer();
  int compared = 0;
  const auto file = goldens.read("lines");
  REQUIRE(file["lines"].size() > 5);
  for (const auto& item : file["lines"]) {
    const auto line = item["line"].get<std::string>();
    const auto used = item["used"].is_null() ? "en" : item["used"].get<std::string>();
    if (used == "zh") continue;  // an English line that the original took for Chinese
    CAPTURE(line);
    CHECK(tokenizer.encode(line, {.language = used}) == item["ids"].get<Ids>());
    ++compared;
  }
  CHECK(compared > 20);
  const auto song = goldens.read("song");
  CHECK(tokenizer.encode(song["lyrics"].get<std::string>()) == song["ids"].get<Ids>());
}

TEST_CASE("lyrics: other languages as written or romanised") {
  const LyricGoldens goldens;
  if (!goldens.present()) return;
  const auto tokenizer = goldens.tokenizer();
  const auto file = goldens.read("other_languages");
  REQUIRE(file["items"].size() > 5);
  for (const auto& item : file["items"]) {
    const auto* language = data::find_lyric_language(item["lang"].get<std::string>());
    REQUIRE(language != nullptr);
    const bool romanised = language->text == data::LyricText::Romanised;
    const auto line = item[romanised ? "clean" : "line"].get<std::string>();
    CAPTURE(line);
    CHECK(tokenizer.encode_line(line, *language) == item["ids"].get<Ids>());
  }
}

TEST_CASE("lyrics: what cannot be read says why, and in which line") {
  const LyricGoldens goldens;
  if (!goldens.present()) return;
  const auto tokenizer = goldens.tokenizer();
  const auto refusal = [&](const std::string& lyrics, const data::LyricOptions& options) {
    try {
      (void)tokenizer.encode(lyrics, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(refusal("[verse]\n今夜的星光", {}).find("must be romanised") != std::string::npos);
  CHECK(refusal("[verse]\n今夜的星光", {}).find("line 2") != std::string::npos);
  CHECK(refusal("夜空に", {.language = "ja"}).find("Japanese lyrics must be romanised") !=
        std::string::npos);
  CHECK(refusal("у меня 3 дома", {}).find("cannot be spoken in Russian") != std::string::npos);
  CHECK(refusal("hi", {.language = "xx"}).find("got 'xx', expected one of en, es") !=
        std::string::npos);
  std::string endless;
  for (int i = 0; i < 10'000; ++i) endless += "la la la\n";
  CHECK(refusal(endless, {}).find("more than 4096 tokens") != std::string::npos);
  CHECK(refusal(std::string(20'000, 'a'), {}).find("a line is too long") != std::string::npos);
  CHECK_THROWS_AS(tokenizer.check_ids({0, 6693}), Error);
  CHECK_NOTHROW(tokenizer.check_ids({0, 6692}));
}

TEST_CASE("lyrics: another vocabulary is refused") {
  const LyricGoldens goldens;
  if (!goldens.present()) return;
  CHECK_THROWS_AS(data::LyricTokenizer(goldens.golden / "song.json"), Error);
}
