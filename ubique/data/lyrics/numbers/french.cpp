// SPDX-License-Identifier: Apache-2.0
// French: "mille deux cent trente-quatre", "quatre-vingt-dix-neuf".
#include <array>

#include "ubique/data/lyrics/numbers/numbers.h"

namespace ubique::data {
namespace {

constexpr std::array<const char*, 20> kFrenchUnits = {
    "zéro",     "un",     "deux",  "trois",    "quatre",   "cinq",    "six",
    "sept",     "huit",   "neuf",  "dix",      "onze",     "douze",   "treize",
    "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf"};
constexpr std::array<const char*, 7> kFrenchTens = {"",         "",          "vingt",   "trente",
                                                    "quarante", "cinquante", "soixante"};

struct FrenchPower {
  std::uint64_t value;
  const char* name;
};
constexpr std::array<FrenchPower, 4> kFrenchPowers = {{{1'000'000'000'000'000, "billiard"},
                                                       {1'000'000'000'000, "billion"},
                                                       {1'000'000'000, "milliard"},
                                                       {1'000'000, "million"}}};

/// Vingt and cent take an s only where nothing but million and its kin follows.
std::string french_below_100(std::uint64_t number, bool last) {
  if (number < 20) return kFrenchUnits[number];
  if (number == 80) return last ? "quatre-vingts" : "quatre-vingt";
  if (number > 80) return "quatre-vingt-" + std::string(kFrenchUnits[number - 80]);
  const auto tens = number < 70 ? number / 10 : 6;
  const auto rest = number - 10 * tens;
  const std::string words = kFrenchTens[tens];
  if (rest == 0) return words;
  return words + (rest == 1 || rest == 11 ? " et " : "-") + kFrenchUnits[rest];
}

std::string french_below_1000(std::uint64_t number, bool last) {
  if (number < 100) return french_below_100(number, last);
  const auto count = number / 100, rest = number % 100;
  auto words = count == 1 ? "cent" : std::string(kFrenchUnits[count]) + " cent";
  if (rest == 0) return words + (count > 1 && last ? "s" : "");
  return words + " " + french_below_100(rest, last);
}

}  // namespace

std::string french_cardinal(std::uint64_t number) {
  std::string words;
  const auto add = [&](const std::string& more) { words += (words.empty() ? "" : " ") + more; };
  const bool zero = number == 0;
  for (const auto& [value, name] : kFrenchPowers) {
    const auto count = number / value;
    if (count > 0) add(french_below_1000(count, true) + " " + name + (count > 1 ? "s" : ""));
    number %= value;
  }
  const auto thousands = number / 1000;
  if (thousands == 1) add("mille");
  if (thousands > 1) add(french_below_1000(thousands, false) + " mille");
  if (number % 1000 > 0 || zero) add(french_below_1000(number % 1000, true));
  return words;
}

std::string french_ordinal(std::uint64_t number) {
  if (number == 1) return "premier";
  auto words = french_cardinal(number);
  if (words.ends_with('e')) words.pop_back();
  if (words.ends_with('q')) words += 'u';
  if (words.ends_with('f')) words.back() = 'v';
  return words + "ième";
}

}  // namespace ubique::data
