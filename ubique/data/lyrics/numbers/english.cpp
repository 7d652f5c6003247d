// SPDX-License-Identifier: Apache-2.0
// English: "one thousand, two hundred and thirty-four".
#include <array>

#include "ubique/data/lyrics/numbers/numbers.h"

namespace ubique::data {
namespace {

constexpr std::array<const char*, 20> kEnglishUnits = {
    "zero",     "one",     "two",     "three",     "four",     "five",    "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<const char*, 10> kEnglishTens = {
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr std::array<const char*, 6> kEnglishPowers = {"",         " thousand", " million",
                                                       " billion", " trillion", " quadrillion"};

std::string english_below_1000(std::uint64_t number) {
  if (number < 20) return kEnglishUnits[number];
  if (number < 100) {
    const std::string tens = kEnglishTens[number / 10];
    return number % 10 == 0 ? tens : tens + "-" + kEnglishUnits[number % 10];
  }
  const auto hundreds = std::string(kEnglishUnits[number / 100]) + " hundred";
  return number % 100 == 0 ? hundreds : hundreds + " and " + english_below_1000(number % 100);
}

}  // namespace

std::string english_cardinal(std::uint64_t number) {
  if (number < 1000) return english_below_1000(number);
  std::string words;
  std::uint64_t power = 1'000'000'000'000'000;
  for (std::size_t i = 5; i > 0; --i, power /= 1000) {
    if (number < power) continue;
    if (!words.empty()) words += ", ";
    words += english_below_1000(number / power) + kEnglishPowers[i];
    number %= power;
  }
  if (number == 0) return words;
  return words + (number < 100 ? " and " : ", ") + english_below_1000(number);
}

std::string english_ordinal(std::uint64_t number) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kIrregular = {
      {{"one", "first"},
       {"two", "second"},
       {"three", "third"},
       {"five", "fifth"},
       {"eight", "eighth"},
       {"nine", "ninth"},
       {"twelve", "twelfth"}}};
  const auto words = english_cardinal(number);
  const auto last = words.find_last_of(" -") + 1;  // 0 if there is one word
  const auto word = words.substr(last);
  for (const auto& [from, to] : kIrregular) {
    if (word == from) return words.substr(0, last) + std::string(to);
  }
  if (word.ends_with('y')) return words.substr(0, words.size() - 1) + "ieth";
  return words + "th";
}

}  // namespace ubique::data
