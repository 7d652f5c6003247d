// SPDX-License-Identifier: Apache-2.0
// German: "eintausendzweihundertvierunddreißig".
#include <array>

#include "ubique/data/lyrics/numbers/numbers.h"
#include "ubique/io/text/unicode/letter_case.h"

namespace ubique::data {
namespace {

constexpr std::array<const char*, 20> kGermanUnits = {
    "null",     "eins",     "zwei",     "drei",     "vier",     "fünf",    "sechs",
    "sieben",   "acht",     "neun",     "zehn",     "elf",      "zwölf",   "dreizehn",
    "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"};
constexpr std::array<const char*, 10> kGermanTens = {
    "", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"};

struct GermanPower {
  std::uint64_t value;
  const char *one, *many;
};
constexpr std::array<GermanPower, 4> kGermanPowers = {
    {{1'000'000'000'000'000, "Billiarde", "Billiarden"},
     {1'000'000'000'000, "Billion", "Billionen"},
     {1'000'000'000, "Milliarde", "Milliarden"},
     {1'000'000, "Million", "Millionen"}}};

/// "ein" where more follows.
std::string german_unit(std::uint64_t number) { return number == 1 ? "ein" : kGermanUnits[number]; }

std::string german_below_million(std::uint64_t number) {
  if (number < 20) return kGermanUnits[number];
  if (number < 100) {
    const std::string tens = kGermanTens[number / 10];
    return number % 10 == 0 ? tens : german_unit(number % 10) + "und" + tens;
  }
  const std::uint64_t base = number < 1000 ? 100 : 1000;
  const auto count = number / base;
  auto words = count == 1 ? "ein" : german_below_million(count);
  words += base == 100 ? "hundert" : "tausend";
  return number % base == 0 ? words : words + german_below_million(number % base);
}

}  // namespace

std::string german_cardinal(std::uint64_t number) {
  std::string words;
  for (const auto& [value, one, many] : kGermanPowers) {
    if (number < value) continue;
    const auto count = number / value;
    if (!words.empty()) words += ' ';
    words += count == 1 ? std::string("eine ") + one : german_below_million(count) + " " + many;
    number %= value;
  }
  if (number == 0 && !words.empty()) return words;
  return (words.empty() ? "" : words + " ") + german_below_million(number);
}

std::string german_ordinal(std::uint64_t number) {
  // A round number loses its "one" and its blank: hundertste, zweimillionste.
  for (const auto& [value, one, many] : kGermanPowers) {
    if (number % value != 0 || number == 0 || number / value >= 1000) continue;
    auto stem = io::lower_case(one);
    if (stem.ends_with('e')) stem.pop_back();
    const auto count = number / value;
    return (count == 1 ? "" : german_below_million(count)) + stem + "ste";
  }
  if (number == 100) return "hundertste";
  if (number == 1000) return "tausendste";
  auto words = io::lower_case(german_cardinal(number));
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kIrregular = {
      {{"eins", "erste"}, {"drei", "dritte"}, {"acht", "achte"}, {"sieben", "siebte"}}};
  for (const auto& [from, to] : kIrregular) {
    if (words.ends_with(from)) {
      return words.substr(0, words.size() - from.size()) + std::string(to);
    }
  }
  const auto rest = number % 100;
  return words + (rest < 20 && (rest > 0 || number == 0) ? "te" : "ste");
}

}  // namespace ubique::data
