// SPDX-License-Identifier: Apache-2.0
// Lists of tokens. Their order is that of the ids, which trained weights depend on: new ones go to
// the end.
#include "ubique/models/acestep/files/vocabularies.h"

#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/data/lyrics/language.h"
#include "ubique/data/music/synth.h"

namespace ubique::acestep {
namespace {

constexpr std::string_view kSpaceSign = "\u2581";
constexpr double kWordScore = -3, kLetterScore = -8;  // log probabilities: words win over letters

Json added_token(std::int64_t id, const std::string& content) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

std::vector<std::string> tag_words() {
  std::vector<std::string> words;
  const auto add = [&](std::string_view word) {
    words.push_back(std::string(kSpaceSign) + std::string(word));
  };
  for (int i = 0; i < data::kPitchClasses; ++i) add(data::pitch_name(i));
  for (const auto mode : data::kChordModes) add(data::to_string(mode));
  for (const auto timbre : data::kTimbres) add(data::to_string(timbre));
  add(data::to_string(data::Timbre::Organ));
  for (const int tempo : data::kTempos) add(std::to_string(tempo));
  for (const auto* word : {"bpm", "left", "right"}) add(word);
  return words;
}

}  // namespace

Json text_vocabulary() {
  const std::vector<std::string> specials = {"<pad>", "</s>", "<unk>"};
  auto vocabulary = Json::array(), added = Json::array();
  for (std::size_t i = 0; i < specials.size(); ++i) {
    vocabulary.push_back({specials[i], 0.0});
    added.push_back(added_token(static_cast<std::int64_t>(i), specials[i]));
  }
  for (const auto& word : tag_words()) vocabulary.push_back({word, kWordScore});
  vocabulary.push_back({kSpaceSign, kLetterScore});
  for (char letter = '!'; letter <= '~'; ++letter) {
    vocabulary.push_back({std::string(1, letter), letter == ',' ? kWordScore : kLetterScore});
  }
  const Json metaspace = {{"type", "Metaspace"},
                          {"replacement", kSpaceSign},
                          {"prepend_scheme", "always"},
                          {"split", true}};
  const Json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const Json end = {{"SpecialToken", {{"id", "</s>"}, {"type_id", 0}}}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer", nullptr},
          {"pre_tokenizer", metaspace},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single", {text, end}},
            {"pair", {text, end}},
            {"special_tokens", {{"</s>", {{"id", "</s>"}, {"ids", {1}}, {"tokens", {"</s>"}}}}}}}},
          {"decoder", metaspace},
          {"model",
           {{"type", "Unigram"}, {"unk_id", 2}, {"vocab", vocabulary}, {"byte_fallback", false}}}};
}

Json lyric_vocabulary() {
  std::vector<std::string> specials = {"[STOP]", "[UNK]", "[SPACE]", "[START]"};
  for (const auto& language : data::lyric_languages()) specials.emplace_back(language.tag);
  for (const auto* part : {"[start]", "[intro]", "[verse]", "[chorus]", "[bridge]", "[outro]",
                           "[end]", "[inst]", "[solo]", "[hook]", "[pre-chorus]", "[break]"}) {
    specials.emplace_back(part);
  }
  auto vocabulary = Json::object();
  auto added = Json::array(), merges = Json::array();
  std::int64_t count = 0;
  const auto add = [&](const std::string& token) { vocabulary[token] = count++; };
  for (const auto& token : specials) {
    added.push_back(added_token(count, token));
    add(token);
  }
  for (char letter = 'a'; letter <= 'z'; ++letter) add(std::string(1, letter));
  for (char digit = '0'; digit <= '9'; ++digit) add(std::string(1, digit));
  for (const char sign : std::string_view("',.?!-:;()[]")) add(std::string(1, sign));
  for (int degree = 0; degree < 7; ++degree) {
    const auto note = std::string(data::syllable(degree));
    merges.push_back(note.substr(0, 1) + " " + note.substr(1));
    add(note);
  }
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "Whitespace"}}},
          {"post_processor", nullptr},
          {"decoder", nullptr},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"vocab", vocabulary},
            {"merges", merges}}}};
}

std::int64_t vocabulary_size(const Json& tokenizer) {
  return static_cast<std::int64_t>(tokenizer.at("model").at("vocab").size());
}

}  // namespace ubique::acestep
