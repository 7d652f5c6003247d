// SPDX-License-Identifier: Apache-2.0
// Numbers as words in six languages, spelled as the package num2words spells them: the lyric
// encoder was trained on its words, oddities included.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ubique::data {

/// Languages whose numbers, abbreviations and symbols can be spoken.
enum class Spoken { English, Spanish, German, French, Italian, Portuguese };

enum class Currency { Dollar, Pound, Euro };

/// Below 10^18.
inline constexpr std::uint64_t kLargestSpoken = 999'999'999'999'999'999;

std::string cardinal(std::uint64_t number, Spoken language);
std::string ordinal(std::uint64_t number, Spoken language);
/// "3.50" is "three point five".
std::string decimal(double number, Spoken language);
/// "three dollars, fifty cents"; whole amounts are named without cents.
std::string money(double amount, Currency currency, Spoken language);

// One file for each language.
std::string english_cardinal(std::uint64_t number);
std::string english_ordinal(std::uint64_t number);
std::string german_cardinal(std::uint64_t number);
std::string german_ordinal(std::uint64_t number);
std::string french_cardinal(std::uint64_t number);
std::string french_ordinal(std::uint64_t number);
std::string italian_cardinal(std::uint64_t number);
std::string italian_ordinal(std::uint64_t number);
/// A longer word that ends in "tre" gets its accent. num2words takes it away again where the number
/// goes on (ventitré, centoventitre, millecentoventitré), and so do we.
std::string italian_accents(const std::string& words);
std::string spanish_cardinal(std::uint64_t number);
std::string spanish_ordinal(std::uint64_t number);
std::string portuguese_cardinal(std::uint64_t number);
std::string portuguese_ordinal(std::uint64_t number);
/// "mil e duzentos e trinta" is "mil duzentos e trinta": the first "e" goes where the number goes
/// on after its hundreds.
std::string portuguese_ands(std::string words);

}  // namespace ubique::data
