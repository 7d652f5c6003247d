// SPDX-License-Identifier: Apache-2.0
// The steps of the original's cleaner, in its order, by hand instead of by regular expressions.
#include "ubique/data/lyrics/front_end.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ubique/base/text/text.h"
#include "ubique/base/text/utf8.h"
#include "ubique/data/lyrics/line_text.h"
#include "ubique/io/text/unicode/letter_case.h"

namespace ubique::data {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

struct SpokenTables {
  std::span<const Pair> abbreviations;  // before a full stop
  std::array<std::string_view, 7> symbols;
  std::span<const std::string_view>
      ordinals;  // what follows the digits; the first that fits counts
};

constexpr std::array<std::string_view, 7> kSymbols = {"&", "@", "%", "#", "$", "£", "°"};

constexpr Pair kEnglish[] = {{"mrs", "misess"},   {"mr", "mister"},     {"dr", "doctor"},
                             {"st", "saint"},     {"co", "company"},    {"jr", "junior"},
                             {"maj", "major"},    {"gen", "general"},   {"drs", "doctors"},
                             {"rev", "reverend"}, {"lt", "lieutenant"}, {"hon", "honorable"},
                             {"sgt", "sergeant"}, {"capt", "captain"},  {"esq", "esquire"},
                             {"ltd", "limited"},  {"col", "colonel"},   {"ft", "fort"}};
constexpr Pair kSpanish[] = {{"sra", "señora"},  {"sr", "señor"},    {"dr", "doctor"},
                             {"dra", "doctora"}, {"st", "santo"},    {"co", "compañía"},
                             {"jr", "junior"},   {"ltd", "limitada"}};
constexpr Pair kGerman[] = {
    {"fr", "frau"}, {"dr", "doktor"}, {"st", "sankt"}, {"co", "firma"}, {"jr", "junior"}};
constexpr Pair kFrench[] = {{"mme", "madame"}, {"mr", "monsieur"},  {"dr", "docteur"},
                            {"st", "saint"},   {"co", "compagnie"}, {"jr", "junior"},
                            {"ltd", "limitée"}};
constexpr Pair kItalian[] = {{"sig", "signore"},  {"dr", "dottore"}, {"st", "santo"},
                             {"co", "compagnia"}, {"jr", "junior"},  {"ltd", "limitata"}};
constexpr Pair kPortuguese[] = {{"sra", "senhora"}, {"sr", "senhor"},   {"dr", "doutor"},
                                {"dra", "doutora"}, {"st", "santo"},    {"co", "companhia"},
                                {"jr", "júnior"},   {"ltd", "limitada"}};

constexpr std::string_view kEnglishOrdinals[] = {"st", "nd", "rd", "th"};
constexpr std::string_view kSpanishOrdinals[] = {"º", "ª", "er", "o", "a"};
constexpr std::string_view kGermanOrdinals[] = {"st", "nd", "rd", "th", "º", "ª", "."};
constexpr std::string_view kFrenchOrdinals[] = {"º", "ª", "er", "re", "e", "ème"};
constexpr std::string_view kItalianOrdinals[] = {"º", "°", "ª", "o", "a", "i", "e"};
constexpr std::string_view kPortugueseOrdinals[] = {"º", "ª", "o", "a"};

const SpokenTables& tables_of(Spoken language) {
  static const std::array<SpokenTables, 6> kTables = {
      {{kEnglish, {"and", "at", "percent", "hash", "dollar", "pound", "degree"}, kEnglishOrdinals},
       {kSpanish,
        {"y", "arroba", "por ciento", "numeral", "dolar", "libra", "grados"},
        kSpanishOrdinals},
       {kGerman, {"und", "at", "prozent", "raute", "dollar", "pfund", "grad"}, kGermanOrdinals},
       {kFrench,
        {"et", "arobase", "pour cent", "dièse", "dollar", "livre", "degrés"},
        kFrenchOrdinals},
       {kItalian,
        {"e", "chiocciola", "per cento", "cancelletto", "dollaro", "sterlina", "gradi"},
        kItalianOrdinals},
       {kPortuguese,
        {"e", "arroba", "por cento", "cardinal", "dólar", "libra", "graus"},
        kPortugueseOrdinals}}};
  return kTables[static_cast<std::size_t>(language)];
}

bool is_digit(std::string_view text, std::size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

std::size_t digits_end(std::string_view text, std::size_t at) {
  while (is_digit(text, at)) ++at;
  return at;
}

/// nullopt for more digits than can be spoken.
std::optional<std::uint64_t> whole_number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool good = result.ec == std::errc() && value <= kLargestSpoken;
  return good ? std::optional(value) : std::nullopt;
}

std::optional<double> fraction(std::string_view digits) {
  const auto value = parse_number(digits);
  return value && *value < 1e15 ? value : std::nullopt;
}

/// What a match at `at` is replaced by, and where it ends.
struct Match {
  std::size_t end = 0;
  std::string text = {};
};
using Matcher = std::function<std::optional<Match>(std::string_view, std::size_t)>;

/// Replaces each match, from the left.
std::string replace_matches(std::string_view text, const Matcher& matcher) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (auto match = matcher(text, at)) {
      out += match->text;
      at = match->end;
    } else {
      out += text[at++];
    }
  }
  return out;
}

/// The end of a number from `at` on whose groups of three digits are set apart; 0 if there is none.
/// In English by commas; elsewhere the original takes any character between groups.
std::size_t grouped_end(std::string_view text, std::size_t at, bool english) {
  if (!is_digit(text, at) || is_word_before(text, at)) return 0;
  for (std::size_t digits = std::min<std::size_t>(3, digits_end(text, at) - at); digits > 0;
       --digits) {
    std::vector<std::size_t> ends = {at + digits};
    while (ends.back() < text.size() && (!english || text[ends.back()] == ',')) {
      const auto group = ends.back() + code_point_at(text, ends.back()).length;
      if (!is_digit(text, group) || !is_digit(text, group + 1) || !is_digit(text, group + 2)) break;
      ends.push_back(group + 3);
    }
    for (; !ends.empty(); ends.pop_back()) {
      const auto end = ends.back();
      const bool point = end < text.size() && text[end] == (english ? '.' : ',');
      const auto after = point ? digits_end(text, end + 1) : end;
      if (point && after > end + 1 && !is_word_at(text, after)) return after;
      if (!is_word_at(text, end)) return end;
    }
  }
  return 0;
}

std::string without_grouping(std::string_view text, bool english) {
  return replace_matches(text, [&](std::string_view all, std::size_t at) -> std::optional<Match> {
    const auto end = grouped_end(all, at, english);
    if (end == 0) return std::nullopt;
    std::string kept(all.substr(at, end - at));
    std::erase(kept, english ? ',' : '.');
    return Match{end, kept};
  });
}

/// An amount with its sign before or behind it; `sum` are its digits.
std::optional<Match> money_at(std::string_view text, std::size_t at, std::string_view sign,
                              std::string& sum) {
  const bool before = text.substr(at).starts_with(sign);
  const auto begin = before ? at + sign.size() : at;
  auto end = begin;
  while (end < text.size() && (is_digit(text, end) || text[end] == '.' || text[end] == ',')) ++end;
  if (before) {
    while (end > begin && !is_digit(text, end - 1)) --end;
  } else if (end > begin && (!is_digit(text, end - 1) || !text.substr(end).starts_with(sign))) {
    return std::nullopt;
  }
  if (end == begin) return std::nullopt;
  sum = text.substr(begin, end - begin);
  std::replace(sum.begin(), sum.end(), ',', '.');
  return Match{before ? end : end + sign.size(), {}};
}

/// Pounds, dollars, euros. As in the original, an amount that is no number ("1.2.3") leaves that
/// sign and those after it to the other steps.
std::string with_money(std::string text, Spoken language) {
  constexpr std::array<std::pair<std::string_view, Currency>, 3> kSigns = {
      {{"£", Currency::Pound}, {"$", Currency::Dollar}, {"€", Currency::Euro}}};
  for (const auto& [sign, currency] : kSigns) {
    bool understood = true;
    auto made = replace_matches(text, [&](std::string_view all, std::size_t at) {
      std::string sum;
      auto match = money_at(all, at, sign, sum);
      const auto amount = match ? fraction(sum) : std::nullopt;
      understood = understood && (!match || amount);
      if (amount) match->text = money(*amount, currency, language);
      return match;
    });
    if (!understood) return text;
    text = std::move(made);
  }
  return text;
}

std::string with_decimals(std::string_view text, Spoken language) {
  return replace_matches(text, [&](std::string_view all, std::size_t at) -> std::optional<Match> {
    const auto point = digits_end(all, at);
    if (point == at || point >= all.size() || (all[point] != '.' && all[point] != ',')) {
      return std::nullopt;
    }
    const auto end = digits_end(all, point + 1);
    std::string digits(all.substr(at, end - at));
    digits[point - at] = '.';
    const auto value = end > point + 1 ? fraction(digits) : std::nullopt;
    if (!value) return std::nullopt;
    return Match{end, decimal(*value, language)};
  });
}

/// Length of an ordinal's ending at `at`; a full stop counts only at the end of a word.
std::size_t ordinal_ending(std::string_view text, std::size_t at, Spoken language) {
  for (const auto ending : tables_of(language).ordinals) {
    if (!text.substr(at).starts_with(ending)) continue;
    const auto after = at + ending.size();
    if (ending == "." && after < text.size() && !is_space_at(text, after)) continue;
    return ending.size();
  }
  return 0;
}

std::string with_numbers(std::string_view text, Spoken language, bool ordinals) {
  return replace_matches(text, [&](std::string_view all, std::size_t at) -> std::optional<Match> {
    const auto end = digits_end(all, at);
    if (end == at) return std::nullopt;
    const auto value = whole_number(all.substr(at, end - at));
    const auto ending = ordinals ? ordinal_ending(all, end, language) : 0;
    if (ordinals && ending > 0 && value) return Match{end + ending, ordinal(*value, language)};
    if (ordinals) return Match{end, std::string(all.substr(at, end - at))};
    if (value) return Match{end, cardinal(*value, language)};
    std::string words;  // longer than anybody counts: digit by digit
    for (auto i = at; i < end; ++i) {
      words += (i > at ? " " : "") + cardinal(static_cast<std::uint64_t>(all[i] - '0'), language);
    }
    return Match{end, words};
  });
}

std::string with_abbreviations(std::string text, Spoken language) {
  for (const auto& [short_form, words] : tables_of(language).abbreviations) {
    const auto dotted = std::string(short_form) + ".";
    text = replace_matches(text, [&](std::string_view all, std::size_t at) -> std::optional<Match> {
      if (!all.substr(at).starts_with(dotted) || is_word_before(all, at)) return std::nullopt;
      return Match{at + dotted.size(), std::string(words)};
    });
  }
  return text;
}

std::string with_symbols(std::string_view text, Spoken language) {
  const auto& words = tables_of(language).symbols;
  return replace_matches(text, [&](std::string_view all, std::size_t at) -> std::optional<Match> {
    for (std::size_t i = 0; i < kSymbols.size(); ++i) {
      if (!all.substr(at).starts_with(kSymbols[i])) continue;
      return Match{at + kSymbols[i].size(), " " + std::string(words[i]) + " "};
    }
    return std::nullopt;
  });
}

}  // namespace

std::string speakable(std::string_view line, Spoken language) {
  std::string unquoted(line);
  std::erase(unquoted, '"');
  auto text = io::lower_case(unquoted);
  text = without_grouping(text, language == Spoken::English);
  text = with_money(std::move(text), language);
  text = with_decimals(text, language);
  text = with_numbers(text, language, true);
  text = with_numbers(text, language, false);
  text = with_abbreviations(std::move(text), language);
  return single_spaced(stripped_line(with_symbols(text, language)));
}

std::string plain_line(std::string_view line) {
  std::string unquoted(line);
  std::erase(unquoted, '"');
  return single_spaced(io::lower_case(unquoted));
}

bool has_numbers_or_symbols(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    const auto rest = line.substr(at);
    const auto starts = [&](std::string_view symbol) { return rest.starts_with(symbol); };
    if (is_digit(line, at) || std::any_of(kSymbols.begin(), kSymbols.end(), starts)) return true;
  }
  return false;
}

}  // namespace ubique::data
