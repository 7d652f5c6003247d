// SPDX-License-Identifier: Apache-2.0
// The guess of a line's language.
#include "ubique/data/lyrics/language.h"

#include <doctest/doctest.h>

using namespace ubique;

TEST_CASE("language: usual lines of six languages are told apart") {
  const std::pair<const char*, const char*> lines[] = {
      {"Neon lights they flicker bright", "en"},
      {"I've got 99 problems, but a beat ain't one", "en"},
      {"Hello Mr. Smith, the doctor is here!", "en"},
      {"Bajo la luna llena te quiero besar", "es"},
      {"¿Dónde está mi corazón perdido?", "es"},
      {"Tengo 25 años y mil sueños", "es"},
      {"Ich hab dich so vermisst in dieser kalten Nacht", "de"},
      {"Über den Wolken muss die Freiheit grenzenlos sein", "de"},
      {"Je t'aime encore malgré la nuit", "fr"},
      {"Où sont passées les étoiles de l'été ?", "fr"},
      {"Il y a 12 roses dans le jardin", "fr"},
      {"Quanto sei bella stasera amore mio", "it"},
      {"Eu sei que vou te amar por toda a minha vida", "pt"},
      {"Tenho 3 corações", "pt"},
      {"Ночь, улица, фонарь", "ru"},
      {"夜空に光る星", "ja"},
      {"사랑해요 너를", "ko"},
      {"今夜的星光闪烁", "zh"}};
  for (const auto& [line, code] : lines) {
    CAPTURE(line);
    const auto* guess = data::guess_line_language(line);
    REQUIRE(guess != nullptr);
    CHECK(guess->code == code);
  }
}

TEST_CASE("language: a line that tells nothing takes the song's language") {
  CHECK(data::guess_line_language("na na na") == nullptr);
  CHECK(data::guess_line_language("") == nullptr);
  CHECK(data::guess_language("[verse]\nIch bin nicht allein\nna na na\n").code == "de");
  CHECK(data::guess_language("na na na").code == "en");
}

TEST_CASE("language: codes with regions and unknown ones") {
  CHECK(data::find_lyric_language("pt-BR")->code == "pt");
  CHECK(data::find_lyric_language("ZH_cn")->tag == "[zh-cn]");
  CHECK(data::find_lyric_language("") == nullptr);
  CHECK(data::find_lyric_language("tlh") == nullptr);
  CHECK(data::foreign_script("abc 夜") == "Chinese");
  CHECK_FALSE(data::foreign_script("naïve Ночь").has_value());
}
