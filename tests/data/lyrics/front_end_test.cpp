// SPDX-License-Identifier: Apache-2.0
// Numbers, money, ordinals, abbreviations and symbols as words. tests/peers/lyrics_test.py compares
// many more with the packages that the original uses.
#include "ubique/data/lyrics/front_end.h"

#include <doctest/doctest.h>

#include <tuple>

using namespace ubique;
using data::Spoken;

TEST_CASE("numbers: small and large, in six languages") {
  const std::tuple<std::uint64_t, Spoken, const char*, const char*> cases[] = {
      {21, Spoken::English, "twenty-one", "twenty-first"},
      {1'000'012, Spoken::English, "one million and twelve", "one million and twelfth"},
      {1999, Spoken::Spanish, "mil novecientos noventa y nueve",
       "milésimo noningentésimo nonagésimo noveno"},
      {101, Spoken::German, "einhunderteins", "einhunderterste"},
      {2'000'000, Spoken::German, "zwei Millionen", "zweimillionste"},
      {91, Spoken::French, "quatre-vingt-onze", "quatre-vingt-onzième"},
      {280'080, Spoken::French, "deux cent quatre-vingt mille quatre-vingts",
       "deux cent quatre-vingt mille quatre-vingtsième"},
      {28, Spoken::Italian, "ventotto", "ventottesimo"},
      {1'103, Spoken::Italian, "millecentotre", "millecentotreesimo"},
      {1'234, Spoken::Portuguese, "mil duzentos e trinta e quatro",
       "milésimo ducentésimo trigésimo quarto"},
      {0, Spoken::Portuguese, "zero", ""}};
  for (const auto& [number, language, one, first] : cases) {
    CAPTURE(number);
    CHECK(data::cardinal(number, language) == one);
    CHECK(data::ordinal(number, language) == first);
  }
}

TEST_CASE("front end: English lines") {
  const auto say = [](std::string_view line) { return data::speakable(line, Spoken::English); };
  CHECK(say("In 12.5 seconds.") == "in twelve point five seconds.");
  CHECK(say("That's 100,000.5.") == "that's one hundred thousand point five.");
  CHECK(say("$1,234.50 & £1 & 20.15€") ==
        "one thousand, two hundred and thirty-four dollars, fifty cents and one pound sterling and "
        "twenty euro, fifteen cents");
  CHECK(say("The 3rd, 22nd and 101st") == "the third, twenty-second and one hundred and first");
  CHECK(say("Dr. Who vs. Mrs. Smith Jr.") == "doctor who vs. misess smith junior");
  CHECK(say("100% \"sure\" @ 40°  #1") == "one hundred percent sure at forty degree hash one");
  CHECK(say("007 and 12345678901234567890") ==
        "seven and one two three four five six seven eight nine zero one two three four five six "
        "seven eight nine zero");
  CHECK(say("  tabs\tand\u3000wide  ") == "tabs and wide");
  CHECK(say("") == "");
  CHECK(say("1.2.3$") == "one point two.three dollar");  // no amount: left to the other steps
}

TEST_CASE("front end: points and commas change places in the other languages") {
  CHECK(data::speakable("1.234,5 Sterne", Spoken::German) ==
        "eintausendzweihundertvierunddreißig Komma fünf sterne");
  CHECK(data::speakable("Am 3. Mai, 3.5", Spoken::German) == "am dritte mai, drei Komma fünf");
  CHECK(data::speakable("3.50€ y 1º", Spoken::Spanish) ==
        "tres euros con cincuenta céntimos y primero");
  CHECK(data::speakable("le 1er et 2e", Spoken::French) == "le premier et deuxième");
  CHECK(data::speakable("$21 e 50%", Spoken::Portuguese) ==
        "vinte e um dólares e cinquenta por cento");
  CHECK(data::speakable("€3", Spoken::Italian) == "tre euro");
}

TEST_CASE("front end: hostile lines end") {
  for (const auto language : {Spoken::English, Spoken::German, Spoken::Portuguese}) {
    std::string groups = "1";
    for (int i = 0; i < 2000; ++i) groups += " 234";
    CHECK_FALSE(data::speakable(groups + "x", language).empty());
    CHECK_FALSE(data::speakable(std::string(9000, '9'), language).empty());
    CHECK_FALSE(data::speakable(std::string(3000, '.') + "5$", language).empty());
    CHECK_FALSE(data::speakable("\xff\xfe 1\xc3", language).empty());
  }
}

TEST_CASE("front end: plain lines and what they must not have") {
  CHECK(data::plain_line("\"Ночь\",  Улица") == "ночь, улица");
  CHECK(data::has_numbers_or_symbols("a 1"));
  CHECK(data::has_numbers_or_symbols("20°"));
  CHECK_FALSE(data::has_numbers_or_symbols("ночь, улица!"));
}
