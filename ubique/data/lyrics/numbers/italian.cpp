// SPDX-License-Identifier: Apache-2.0
// Italian: "milleduecentotrentaquattro", "ventuno", "ventitré".
#include <algorithm>
#include <array>
#include <utility>

#include "ubique/data/lyrics/numbers/numbers.h"

namespace ubique::data {
namespace {

constexpr std::array<const char*, 20> kItalianUnits = {
    "zero",        "uno",      "due",    "tre",         "quattro",  "cinque",    "sei",
    "sette",       "otto",     "nove",   "dieci",       "undici",   "dodici",    "tredici",
    "quattordici", "quindici", "sedici", "diciassette", "diciotto", "diciannove"};
constexpr std::array<const char*, 10> kItalianTens = {
    "",          "",         "venti",    "trenta",  "quaranta",
    "cinquanta", "sessanta", "settanta", "ottanta", "novanta"};

struct ItalianPower {
  std::uint64_t value;
  const char *one, *many;
};
constexpr std::array<ItalianPower, 4> kItalianPowers = {
    {{1'000'000'000'000'000, "biliardo", "biliardi"},
     {1'000'000'000'000, "bilione", "bilioni"},
     {1'000'000'000, "miliardo", "miliardi"},
     {1'000'000, "milione", "milioni"}}};

std::string swapped(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Two vowels that meet become one: ventuno, trentotto, centottanta. num2words also takes the i of
/// "diciotto" after a hundred.
std::string contracted(std::string words) {
  for (const auto& [from, to] :
       {std::pair("oo", "o"), {"ao", "o"}, {"io", "o"}, {"au", "u"}, {"iu", "u"}}) {
    words = swapped(std::move(words), from, to);
  }
  return words;
}

std::string italian_below_1000(std::uint64_t number) {
  if (number < 20) return kItalianUnits[number];
  const std::uint64_t base = number < 100 ? 10 : 100;
  std::string words = number < 100 ? kItalianTens[number / 10] : "cento";
  if (number >= 200) words = kItalianUnits[number / 100] + words;
  if (number % base > 0) words += italian_below_1000(number % base);
  return italian_accents(contracted(words));
}

std::string italian_below_million(std::uint64_t number) {
  if (number < 1000) return italian_below_1000(number);
  const auto words = number < 2000 ? "mille" : italian_below_1000(number / 1000) + "mila";
  return italian_accents(number % 1000 == 0 ? words : words + italian_below_1000(number % 1000));
}

}  // namespace

std::string italian_accents(const std::string& words) {
  std::string out;
  for (std::size_t at = 0; at < words.size();) {
    const auto end = std::min(words.find(' ', at), words.size());
    const auto word = words.substr(at, end - at);
    out += swapped(word, "tré", "tre");
    if (word.ends_with("tre") && word != "tre") out.replace(out.size() - 1, 1, "é");
    if (end < words.size()) out += ' ';
    at = end + 1;
  }
  return out;
}

std::string italian_cardinal(std::uint64_t number) {
  if (number < 1'000'000) return italian_below_million(number);
  std::size_t i = 0;
  while (number < kItalianPowers[i].value) ++i;
  const auto& [value, one, many] = kItalianPowers[i];
  const auto count = number / value;
  auto words = count == 1 ? std::string("un ") + one : italian_below_1000(count) + " " + many;
  if (number % value == 0) return italian_accents(words);
  const auto rest = italian_cardinal(number % value);
  words += rest.find(" e ") == std::string::npos ? " e " : ", ";
  return italian_accents(words + rest);
}

std::string italian_ordinal(std::uint64_t number) {
  constexpr std::array<const char*, 11> kFirst = {"zero",   "primo",  "secondo", "terzo",
                                                  "quarto", "quinto", "sesto",   "settimo",
                                                  "ottavo", "nono",   "decimo"};
  if (number <= 10) return kFirst[number];
  auto words = italian_cardinal(number);
  if (words.ends_with("tré")) words = words.substr(0, words.size() - 2) + "e";
  if (words.ends_with("tre") || words.ends_with("sei")) return words + "esimo";
  if (words.ends_with("mila")) return words.substr(0, words.size() - 4) + "millesimo";
  for (const auto& [value, one, many] : kItalianPowers) {
    if (!words.ends_with(many)) continue;
    words = words.substr(0, words.size() - std::string_view(many).size()) + one;
  }
  words.pop_back();
  return words + "esimo";
}

}  // namespace ubique::data
