// SPDX-License-Identifier: Apache-2.0
// Spanish and Portuguese, which count alike: "mil doscientos treinta y cuatro", "mil duzentos e
// trinta e quatro". A billion is a million millions.
#include <array>
#include <utility>

#include "ubique/data/lyrics/numbers/numbers.h"

namespace ubique::data {
namespace {

using Words = std::array<const char*, 10>;

constexpr std::array<const char*, 30> kSpanishUnits = {
    "cero",         "uno",         "dos",        "tres",        "cuatro",     "cinco",
    "seis",         "siete",       "ocho",       "nueve",       "diez",       "once",
    "doce",         "trece",       "catorce",    "quince",      "dieciséis",  "diecisiete",
    "dieciocho",    "diecinueve",  "veinte",     "veintiuno",   "veintidós",  "veintitrés",
    "veinticuatro", "veinticinco", "veintiséis", "veintisiete", "veintiocho", "veintinueve"};
constexpr std::array<const char*, 20> kPortugueseUnits = {
    "zero",    "um",     "dois",      "três",      "quatro",  "cinco",   "seis",
    "sete",    "oito",   "nove",      "dez",       "onze",    "doze",    "treze",
    "catorze", "quinze", "dezasseis", "dezassete", "dezoito", "dezanove"};
constexpr Words kSpanishTens = {"",          "",        "",        "treinta", "cuarenta",
                                "cincuenta", "sesenta", "setenta", "ochenta", "noventa"};
constexpr Words kPortugueseTens = {"",          "",         "vinte",   "trinta",  "quarenta",
                                   "cinquenta", "sessenta", "setenta", "oitenta", "noventa"};
constexpr Words kSpanishHundreds = {
    "",           "ciento",      "doscientos",  "trescientos", "cuatrocientos",
    "quinientos", "seiscientos", "setecientos", "ochocientos", "novecientos"};
constexpr Words kPortugueseHundreds = {
    "",           "cento",      "duzentos",   "trezentos",  "quatrocentos",
    "quinhentos", "seiscentos", "setecentos", "oitocentos", "novecentos"};

constexpr Words kSpanishFirst = {"",       "primero", "segundo", "tercero", "cuarto",
                                 "quinto", "sexto",   "séptimo", "octavo",  "noveno"};
constexpr Words kPortugueseFirst = {"",       "primeiro", "segundo", "terceiro", "quarto",
                                    "quinto", "sexto",    "sétimo",  "oitavo",   "nono"};
constexpr Words kSpanishTenth = {
    "",           "décimo",       "vigésimo",   "trigésimo", "quadragésimo", "quincuagésimo",
    "sexagésimo", "septuagésimo", "octogésimo", "nonagésimo"};
constexpr Words kPortugueseTenth = {
    "",           "décimo",       "vigésimo",   "trigésimo", "quadragésimo", "quinquagésimo",
    "sexagésimo", "septuagésimo", "octogésimo", "nonagésimo"};
constexpr Words kSpanishHundredth = {"",
                                     "centésimo",
                                     "ducentésimo",
                                     "tricentésimo",
                                     "cuadrigentésimo",
                                     "quingentésimo",
                                     "sexcentésimo",
                                     "septigentésimo",
                                     "octigentésimo",
                                     "noningentésimo"};
constexpr Words kPortugueseHundredth = {"",
                                        "centésimo",
                                        "ducentésimo",
                                        "tricentésimo",
                                        "quadrigentésimo",
                                        "quingentésimo",
                                        "seiscentésimo",
                                        "septigentésimo",
                                        "octigentésimo",
                                        "nongentésimo"};

void append_word(std::string& words, const std::string& more) {
  if (!words.empty() && !more.empty()) words += ' ';
  words += more;
}

std::string spanish_below_1000(std::uint64_t number) {
  if (number < 30) return kSpanishUnits[number];
  if (number == 100) return "cien";
  if (number > 100) {
    std::string words = kSpanishHundreds[number / 100];
    return number % 100 == 0 ? words : words + " " + spanish_below_1000(number % 100);
  }
  const std::string tens = kSpanishTens[number / 10];
  return number % 10 == 0 ? tens : tens + " y " + kSpanishUnits[number % 10];
}

std::string portuguese_below_1000(std::uint64_t number) {
  if (number < 20) return kPortugueseUnits[number];
  if (number == 100) return "cem";
  const std::uint64_t base = number < 100 ? 10 : 100;
  const std::string words =
      number < 100 ? kPortugueseTens[number / 10] : kPortugueseHundreds[number / 100];
  return number % base == 0 ? words : words + " e " + portuguese_below_1000(number % base);
}

/// Below a million: with "mil", but never "un mil".
std::string spanish_below_million(std::uint64_t number) {
  if (number < 1000) return spanish_below_1000(number);
  auto words = number < 2000 ? "mil" : spanish_below_1000(number / 1000) + " mil";
  if (number % 1000 > 0) append_word(words, spanish_below_1000(number % 1000));
  return words;
}

std::string portuguese_below_million(std::uint64_t number) {
  if (number < 1000) return portuguese_below_1000(number);
  const auto words = number < 2000 ? "mil" : portuguese_below_1000(number / 1000) + " mil";
  return number % 1000 == 0 ? words : words + " e " + portuguese_below_1000(number % 1000);
}

/// Whether "PART e", hundreds that do not end the number, and another "e" stand in the words.
bool has_longer_hundreds(const std::string& words, const std::string& part) {
  for (std::size_t at = 0; (at = words.find(part + " e ", at)) != std::string::npos; ++at) {
    const auto word = at + part.size() + 3;
    const auto end = words.find(' ', word);
    if (end == std::string::npos) continue;
    const auto hundreds = std::string_view(words).substr(word, end - word);
    const bool is_hundreds = hundreds.ends_with("ento") || hundreds.ends_with("entos");
    if (is_hundreds && words.find('e', end) != std::string::npos) return true;
  }
  return false;
}

/// The ordinal of 1 to 999.
std::string ordinal_below_1000(std::uint64_t number, const Words& first, const Words& tenth,
                               const Words& hundredth) {
  std::string words;
  append_word(words, hundredth[number / 100]);
  append_word(words, tenth[number / 10 % 10]);
  append_word(words, first[number % 10]);
  return words;
}

std::string spanish_ordinal_below_1000(std::uint64_t number) {
  const auto rest = number % 100;
  if (rest != 11 && rest != 12) {
    return ordinal_below_1000(number, kSpanishFirst, kSpanishTenth, kSpanishHundredth);
  }
  std::string words = kSpanishHundredth[number / 100];
  append_word(words, rest == 11 ? "décimoprimero" : "décimosegundo");
  return words;
}

}  // namespace

std::string spanish_cardinal(std::uint64_t number) {
  constexpr std::uint64_t kMillion = 1'000'000;
  std::string words;
  const auto billions = number / kMillion / kMillion, millions = number / kMillion % kMillion;
  if (billions == 1) append_word(words, "un billón");
  if (billions > 1) append_word(words, spanish_below_million(billions) + " billones");
  if (millions == 1) append_word(words, "un millón");
  if (millions > 1) append_word(words, spanish_below_million(millions) + " millones");
  if (number % kMillion > 0 || number == 0) {
    append_word(words, spanish_below_million(number % kMillion));
  }
  return words;
}

std::string portuguese_ands(std::string words) {
  for (const std::string part :
       {"mil", "milhão", "milhões", "mil milhões", "bilião", "biliões", "mil biliões"}) {
    if (!has_longer_hundreds(words, part)) continue;
    const auto with = part + " e";
    for (std::size_t at = 0; (at = words.find(with, at)) != std::string::npos; at += part.size()) {
      words.replace(at, with.size(), part);
    }
  }
  return words;
}

std::string portuguese_cardinal(std::uint64_t number) {
  constexpr std::uint64_t kMillion = 1'000'000;
  std::string words;
  const auto add = [&](const std::string& more) { words += (words.empty() ? "" : " e ") + more; };
  const auto billions = number / kMillion / kMillion, millions = number / kMillion % kMillion;
  if (billions == 1) add("um bilião");
  if (billions > 1) add(portuguese_below_million(billions) + " biliões");
  if (millions == 1) add("um milhão");
  if (millions > 1) add(portuguese_below_million(millions) + " milhões");
  if (number % kMillion > 0 || number == 0) add(portuguese_below_million(number % kMillion));
  return portuguese_ands(std::move(words));
}

std::string spanish_ordinal(std::uint64_t number) {
  if (number == 0) return "";
  constexpr std::array<std::pair<std::uint64_t, const char*>, 5> kPowers = {
      {{1'000'000'000'000'000, "cuadrillonésimo"},
       {1'000'000'000'000, "trillonésimo"},
       {1'000'000'000, "billonésimo"},
       {1'000'000, "millonésimo"},
       {1'000, "milésimo"}}};
  std::string words;
  for (const auto& [value, name] : kPowers) {
    const auto count = number / value;
    number %= value;
    if (count > 0) append_word(words, (count == 1 ? "" : spanish_below_1000(count)) + name);
  }
  append_word(words, spanish_ordinal_below_1000(number));
  return words;
}

std::string portuguese_ordinal(std::uint64_t number) {
  if (number == 0) return "";
  constexpr std::array<std::pair<std::uint64_t, const char*>, 5> kPowers = {
      {{1'000'000'000'000'000, "milésimo bilionésimo"},
       {1'000'000'000'000, "bilionésimo"},
       {1'000'000'000, "milésimo milionésimo"},
       {1'000'000, "milionésimo"},
       {1'000, "milésimo"}}};
  const auto below_1000 = [](std::uint64_t part) {
    return ordinal_below_1000(part, kPortugueseFirst, kPortugueseTenth, kPortugueseHundredth);
  };
  std::string words;
  for (const auto& [value, name] : kPowers) {
    const auto count = number / value;
    number %= value;
    // A lone one is not said, except before a thousand within a larger number.
    const bool said = count > 1 || (count == 1 && value == 1000 && !words.empty());
    if (count > 0) append_word(words, (said ? below_1000(count) + " " : "") + name);
  }
  append_word(words, below_1000(number));
  return words;
}

}  // namespace ubique::data
