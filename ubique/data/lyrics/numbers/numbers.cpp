// SPDX-License-Identifier: Apache-2.0
// Chooses the language; decimals and amounts of money are built of cardinals.
#include "ubique/data/lyrics/numbers/numbers.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique::data {
namespace {

struct MoneyNames {
  const char *one, *many, *cent, *cents;
};

/// By language, then dollar, pound, euro.
constexpr std::array<std::array<MoneyNames, 3>, 6> kMoney = {
    {{{{"dollar", "dollars", "cent", "cents"},
       {"pound sterling", "pounds sterling", "penny", "pence"},
       {"euro", "euro", "cent", "cents"}}},
     {{{"dólar", "dólares", "centavo", "centavos"},
       {"libra", "libras", "penique", "peniques"},
       {"euro", "euros", "céntimo", "céntimos"}}},
     {{{"Dollar", "Dollar", "Cent", "Cent"},
       {"Pfund", "Pfund", "Penny", "Pence"},
       {"Euro", "Euro", "Cent", "Cent"}}},
     {{{"dollar", "dollars", "cent", "cents"},
       {"livre", "livres", "penny", "pence"},
       {"euro", "euros", "centime", "centimes"}}},
     {{{"dollaro", "dollari", "centesimo", "centesimi"},
       {"sterlina", "sterline", "penny", "penny"},
       {"euro", "euro", "centesimo", "centesimi"}}},
     {{{"dólar", "dólares", "cêntimo", "cêntimos"},
       {"libra", "libras", "péni", "pence"},
       {"euro", "euros", "cêntimo", "cêntimos"}}}}};

constexpr std::array<const char*, 6> kMoneyJoint = {", ", " con ", " und ", " et ", " e ", " e "};
constexpr std::array<const char*, 6> kPoint = {"point",   "punto",   "Komma",
                                               "virgule", "virgola", "vírgula"};

std::size_t index_of(Spoken language) { return static_cast<std::size_t>(language); }

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// A number before a noun: "one" changes in Spanish, German and Italian, and the pound is feminine.
std::string counted(std::uint64_t number, Spoken language, bool feminine) {
  auto words = cardinal(number, language);
  if (language == Spoken::German && words.ends_with("eins")) words.pop_back();
  if (language == Spoken::Italian) {
    return feminine && number == 1 ? "una" : replaced(words, "uno", "un");
  }
  if (language != Spoken::Spanish) return words;
  if (feminine) return replaced(replaced(words, "uno", "una"), "cientos", "cientas");
  return replaced(replaced(words, "veintiuno", "veintiún"), "uno", "un");
}

/// Hundredths, half of one rounded up by the exact value of the double.
std::uint64_t cents_of(double amount) {
  const double whole = std::floor(amount * 100);
  const bool up = std::fma(amount, 100, -(whole + 0.5)) >= 0;
  return static_cast<std::uint64_t>(whole) + (up ? 1 : 0);
}

/// The fewest decimals, at least one, that give the number back.
std::string shortest_decimals(double number) {
  for (int count = 1;; ++count) {
    const auto text = fmt::format("{:.{}f}", number, count);
    if (count == 20 || parse_number(text) == number) return text;
  }
}

}  // namespace

std::string cardinal(std::uint64_t number, Spoken language) {
  check(number <= kLargestSpoken, ErrorKind::Internal,
        "[data.lyrics] a number is too large for words; got {}.", number);
  constexpr std::array kSpeak = {english_cardinal, spanish_cardinal, german_cardinal,
                                 french_cardinal,  italian_cardinal, portuguese_cardinal};
  return kSpeak[index_of(language)](number);
}

std::string ordinal(std::uint64_t number, Spoken language) {
  check(number <= kLargestSpoken, ErrorKind::Internal,
        "[data.lyrics] a number is too large for words; got {}.", number);
  constexpr std::array kSpeak = {english_ordinal, spanish_ordinal, german_ordinal,
                                 french_ordinal,  italian_ordinal, portuguese_ordinal};
  return kSpeak[index_of(language)](number);
}

std::string decimal(double number, Spoken language) {
  const auto whole = std::floor(number);
  auto words = cardinal(static_cast<std::uint64_t>(whole), language);
  if (number == whole && language != Spoken::Italian) return words;
  const auto digits = shortest_decimals(number);
  const auto point = digits.find('.');
  words += fmt::format(" {}", kPoint[index_of(language)]);
  for (const char digit : digits.substr(point + 1)) {
    words += ' ' + cardinal(static_cast<std::uint64_t>(digit - '0'), language);
  }
  if (language == Spoken::Portuguese) return portuguese_ands(std::move(words));
  return language == Spoken::Italian ? italian_accents(words) : words;
}

std::string money(double amount, Currency currency, Spoken language) {
  const auto& names = kMoney[index_of(language)][static_cast<std::size_t>(currency)];
  const bool pound = currency == Currency::Pound;
  const auto all = cents_of(amount);
  const auto whole = all / 100, cents = all % 100;
  auto words = counted(whole, language, pound) + " ";
  // In Portuguese: "um milhão de dólares".
  if (language == Spoken::Portuguese && whole > 0 && whole % 1'000'000 == 0) words += "de ";
  words += whole == 1 ? names.one : names.many;
  const bool silent = language == Spoken::Portuguese && !pound && cents == 0;
  if (amount == std::floor(amount) || silent) return words;
  return words + kMoneyJoint[index_of(language)] + counted(cents, language, false) + " " +
         (cents == 1 ? names.cent : names.cents);
}

}  // namespace ubique::data
