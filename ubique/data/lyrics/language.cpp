// SPDX-License-Identifier: Apache-2.0
// Points for small words and letters; the language with most points wins.
#include "ubique/data/lyrics/language.h"

#include <algorithm>
#include <array>

#include "ubique/base/text/utf8.h"
#include "ubique/data/lyrics/line_text.h"
#include "ubique/io/text/unicode/letter_case.h"

namespace ubique::data {
namespace {

constexpr std::array<LyricLanguage, 17> kLanguages = {
    {{"en", "[en]", "English", LyricText::Speakable, Spoken::English},
     {"es", "[es]", "Spanish", LyricText::Speakable, Spoken::Spanish},
     {"de", "[de]", "German", LyricText::Speakable, Spoken::German},
     {"fr", "[fr]", "French", LyricText::Speakable, Spoken::French},
     {"it", "[it]", "Italian", LyricText::Speakable, Spoken::Italian},
     {"pt", "[pt]", "Portuguese", LyricText::Speakable, Spoken::Portuguese},
     {"ru", "[ru]", "Russian", LyricText::AsWritten},
     {"cs", "[cs]", "Czech", LyricText::AsWritten},
     {"pl", "[pl]", "Polish", LyricText::AsWritten},
     {"tr", "[tr]", "Turkish", LyricText::AsWritten},
     {"nl", "[nl]", "Dutch", LyricText::AsWritten},
     {"ar", "[ar]", "Arabic", LyricText::AsWritten},
     {"hu", "[hu]", "Hungarian", LyricText::AsWritten},
     {"hi", "[hi]", "Hindi", LyricText::AsWritten},
     {"zh", "[zh-cn]", "Chinese", LyricText::Romanised},
     {"ja", "[ja]", "Japanese", LyricText::Romanised},
     {"ko", "[ko]", "Korean", LyricText::Romanised}}};

/// Of the six spoken languages, in their order: words, and letters or parts of words.
constexpr std::array<std::string_view, 6> kSmallWords = {
    " the and you i'm i my me in of to is it that we your on for all with don't be was this they "
    "are when love know just like no not up down have she he what night time so if but oh baby ",
    " el los las un una que de y en mi tu te yo es por con para no se lo como más pero si cuando "
    "está eres soy quiero corazón amor noche sol vida sin ya todo nunca siempre al del su me la ",
    " der die das und ich du wir ihr ist nicht ein eine einen in dem den mit für auf so mein dein "
    "sein dich mich zu von es im was wie noch nur kein hab haben bin bist wenn nacht liebe über ",
    " le la les un une des et je tu il elle nous vous ne pas que qui de du dans pour sur mon ton "
    "mes tes c'est j'ai est sont avec plus où tout sans nuit amour encore y moi toi au ce cette ",
    " il lo la gli le un una che di e in mi ti tu io sono sei è non per con come più ma se quando "
    "amore notte cuore sole vita della del nel questa questo mio mia stasera quanto anche ci ",
    " o os as um uma que de e em eu você tu te me é não por com para se como mais mas quando meu "
    "minha amor noite coração sol vida sem já tudo nunca sempre do da vou sei tenho "};
constexpr std::array<std::string_view, 6> kLetters = {"' th wh ight ", "ñ ¿ ¡ ción ",
                                                      "ß ä ö ü sch ",  "ç œ ê è ù l' d' j' t' ",
                                                      "ì ò zz gli ",   "ã õ ç nh lh ções "};

/// Calls `each` for the words of a list with blanks around them.
template <typename Each>
void for_each_word(std::string_view list, const Each& each) {
  for (std::size_t at = 0; at < list.size();) {
    const auto end = std::min(list.find(' ', at), list.size());
    if (end > at) each(list.substr(at, end - at));
    at = end + 1;
  }
}

/// Lower case, punctuation but apostrophes as blanks, a blank at both ends.
std::string words_of(std::string_view line) {
  std::string out = " ";
  const auto lower = io::lower_case(line);
  for (std::size_t at = 0; at < lower.size();) {
    const auto length = code_point_at(lower, at).length;
    const bool word = is_word_at(lower, at) || lower[at] == '\'';
    out += word ? std::string_view(lower).substr(at, length) : " ";
    at += length;
  }
  return out + " ";
}

using Points = std::array<double, 6>;

void add_points(std::string_view line, Points& points) {
  const auto words = words_of(line);
  const auto lower = io::lower_case(line);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for_each_word(words, [&](std::string_view word) {
      const auto framed = " " + std::string(word) + " ";
      if (kSmallWords[i].find(framed) != std::string_view::npos) points[i] += 1;
    });
    for_each_word(kLetters[i], [&](std::string_view part) {
      if (lower.find(part) != std::string::npos) points[i] += part.size() > 1 ? 0.6 : 0.3;
    });
  }
}

const LyricLanguage* best_of(const Points& points) {
  const auto best = std::max_element(points.begin(), points.end());
  return *best >= 0.6 ? &kLanguages[static_cast<std::size_t>(best - points.begin())] : nullptr;
}

struct Script {
  char32_t first, last;
  std::string_view code;
};
constexpr std::array<Script, 9> kScripts = {{{0x0400, 0x052F, "ru"},
                                             {0x0600, 0x06FF, "ar"},
                                             {0x0900, 0x097F, "hi"},
                                             {0x3040, 0x30FF, "ja"},
                                             {0x3400, 0x4DBF, "zh"},
                                             {0x4E00, 0x9FFF, "zh"},
                                             {0xAC00, 0xD7A3, "ko"},
                                             {0x1100, 0x11FF, "ko"},
                                             {0x20000, 0x3134F, "zh"}}};

/// By the first letter of another script; Japanese if there is kana anywhere.
const LyricLanguage* script_language(std::string_view text) {
  const LyricLanguage* found = nullptr;
  for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).length) {
    const auto point = code_point_at(text, at).value;
    for (const auto& [first, last, code] : kScripts) {
      if (point < first || point > last) continue;
      if (found == nullptr || code == "ja") found = find_lyric_language(code);
    }
  }
  return found;
}

}  // namespace

std::span<const LyricLanguage> lyric_languages() { return kLanguages; }

const LyricLanguage* find_lyric_language(std::string_view code) {
  const auto region = code.find_first_of("-_");
  const auto lower = io::lower_case(code.substr(0, region));
  for (const auto& language : kLanguages) {
    if (language.code == lower) return &language;
  }
  return nullptr;
}

const LyricLanguage* guess_line_language(std::string_view line) {
  if (const auto* language = script_language(line)) return language;
  Points points{};
  add_points(line, points);
  return best_of(points);
}

const LyricLanguage& guess_language(std::string_view lyrics) {
  Points points{};
  while (!lyrics.empty()) {
    const auto end = std::min(lyrics.find('\n'), lyrics.size());
    const auto line = stripped_line(lyrics.substr(0, end));
    if (!line.starts_with('[')) add_points(line, points);
    lyrics.remove_prefix(std::min(end + 1, lyrics.size()));
  }
  const auto* best = best_of(points);
  return best != nullptr ? *best : kLanguages[0];
}

std::optional<std::string_view> foreign_script(std::string_view text) {
  const auto* language = script_language(text);
  const bool foreign = language != nullptr && language->text == LyricText::Romanised;
  return foreign ? std::optional(language->name) : std::nullopt;
}

}  // namespace ubique::data
