// SPDX-License-Identifier: Apache-2.0
// Writes tokenizer.json.
#include <unordered_map>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/base64.h"
#include "ubique/base/text/json.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::io {
namespace {

Json pattern_json(std::string_view pattern) {
  return {{"type", "Split"},
          {"pattern", {{"Regex", pattern}}},
          {"behavior", "Isolated"},
          {"invert", false}};
}

Json mark_json(const char* scheme) {
  return {{"type", "Metaspace"},
          {"replacement", kSpaceMark},
          {"prepend_scheme", scheme},
          {"split", false}};
}

Json step_json(SplitStep step) {
  switch (step) {
    case SplitStep::EachNumber:
      return {{"type", "Digits"}, {"individual_digits", true}};
    case SplitStep::NumberRuns:
      return {{"type", "Digits"}, {"individual_digits", false}};
    case SplitStep::Llama3Words:
      return pattern_json(kLlama3Pattern);
    case SplitStep::Qwen2Words:
      return pattern_json(kQwen2Pattern);
    case SplitStep::SpaceMarks:
      return mark_json("never");
    case SplitStep::MarkFirst:
      return mark_json("first");
    case SplitStep::MarkEach:
      return mark_json("always");
    case SplitStep::CutAtSpace:
      return {{"type", "WhitespaceSplit"}};
    case SplitStep::WordRuns:
      return {{"type", "Whitespace"}};
    case SplitStep::PrefixSpace:  // both are part of the final ByteLevel
    case SplitStep::Words:
    case SplitStep::CutAtMarks:  // part of the step before
      break;
  }
  return pattern_json(kWordPattern);
}

Json byte_level_json(bool prefix_space, bool words) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", prefix_space},
          {"trim_offsets", true},
          {"use_regex", words}};
}

Json steps_json(const WordSplit& steps, std::size_t count) {
  auto list = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    check(steps[i] != SplitStep::PrefixSpace, ErrorKind::Internal,
          "[io.tokenizer] a blank before pieces that are cut again cannot be written.");
    if (steps[i] == SplitStep::CutAtMarks && !list.empty()) {
      list.back()["split"] = true;
    } else {
      list.push_back(step_json(steps[i]));
    }
  }
  return list;
}

/// A ByteLevel step in a file covers up to three of ours (prefix space, words, spelling of bytes)
/// and must come last.
Json split_json(const WordSplit& steps) {
  auto end = steps.size();
  const bool words = end > 0 && steps[end - 1] == SplitStep::Words;
  if (words) --end;
  const bool prefix = end > 0 && steps[end - 1] == SplitStep::PrefixSpace;
  if (prefix) --end;
  const auto last = byte_level_json(prefix, words);
  if (end == 0) return last;
  auto list = steps_json(steps, end);
  list.push_back(last);
  return {{"type", "Sequence"}, {"pretokenizers", list}};
}

Json character_split_json(const WordSplit& steps) {
  if (steps.empty()) return nullptr;
  const auto list = steps_json(steps, steps.size());
  return list.size() == 1 ? list[0] : Json{{"type", "Sequence"}, {"pretokenizers", list}};
}

Json added_json(const std::vector<AddedToken>& tokens) {
  auto list = Json::array();
  for (const auto& token : tokens) {
    list.push_back({{"id", token.id},
                    {"content", token.content},
                    {"single_word", token.single_word},
                    {"lstrip", token.strip_left},
                    {"rstrip", token.strip_right},
                    {"normalized", token.normalized},
                    {"special", token.special}});
  }
  return list;
}

Json replace_json(const char* kind, const char* pattern, std::string_view content) {
  return {{"type", "Replace"}, {"pattern", {{kind, pattern}}}, {"content", content}};
}

Json normal_step_json(NormalStep step, const TokenizerModel& model) {
  switch (step) {
    case NormalStep::PrependMark:
      return {{"type", "Prepend"}, {"prepend", kSpaceMark}};
    case NormalStep::SpacesToMarks:
      return replace_json("String", " ", kSpaceMark);
    case NormalStep::MergeSpaces:
      return replace_json("Regex", " {2,}", " ");
    case NormalStep::RunsToMark:
      return replace_json("Regex", " {2,}", kSpaceMark);
    case NormalStep::StripLeft:
    case NormalStep::StripRight:
      return {{"type", "Strip"},
              {"strip_left", step == NormalStep::StripLeft},
              {"strip_right", step == NormalStep::StripRight}};
    case NormalStep::Table:
      return {{"type", "Precompiled"}, {"precompiled_charsmap", base64(model.chars_map->bytes())}};
    case NormalStep::Nfc:
      break;
  }
  return {{"type", "NFC"}};
}

Json normal_json(const TokenizerModel& model) {
  auto list = Json::array();
  for (const auto step : model.normal) list.push_back(normal_step_json(step, model));
  if (list.empty()) return nullptr;
  return list.size() == 1 ? list[0] : Json{{"type", "Sequence"}, {"normalizers", list}};
}

Json decoder_json(const TokenizerModel& model) {
  if (model.units == TokenUnits::Bytes) return byte_level_json(true, true);
  if (model.spaced_decoded) return nullptr;
  auto list = Json::array();
  list.push_back({{"type", "Replace"}, {"pattern", {{"String", kSpaceMark}}}, {"content", " "}});
  list.push_back({{"type", "ByteFallback"}});
  list.push_back({{"type", "Fuse"}});
  if (model.strip_decoded) {
    list.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  return {{"type", "Sequence"}, {"decoders", list}};
}

/// Tokens around each text; each gets a name of its own, since a file may frame with any ids.
Json frame_json(const TokenizerModel& model) {
  if (model.begin.empty() && model.end.empty()) return nullptr;
  std::unordered_map<std::int32_t, std::string> names;
  for (const auto& [spelling, id] : model.vocabulary) names[id] = spelling;
  for (const auto& added : model.added) names[added.id] = added.content;
  auto single = Json::array(), known = Json::object();
  const auto add = [&](std::int32_t id) {
    single.push_back({{"SpecialToken", {{"id", names[id]}, {"type_id", 0}}}});
    known[names[id]] = {{"id", names[id]}, {"ids", {id}}, {"tokens", {names[id]}}};
  };
  for (const auto id : model.begin) add(id);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  for (const auto id : model.end) add(id);
  auto pair = single;
  for (const auto& piece : single) {
    auto second = piece;
    auto& content = second.begin().value();
    content["type_id"] = 1;
    if (content["id"] == "A" && second.contains("Sequence")) content["id"] = "B";
    pair.push_back(second);
  }
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", pair},
          {"special_tokens", known}};
}

/// Appends directly: an ordered object would search its tens of thousands of keys for each.
Json vocabulary_json(const TokenizerModel& model) {
  auto object = Json::object();
  auto& entries = object.get_ref<Json::object_t&>();
  for (const auto& [spelling, id] : model.vocabulary) entries.emplace_back(spelling, id);
  return object;
}

Json unigram_json(const TokenizerModel& model) {
  auto tokens = Json::array();
  Json unknown;
  for (std::size_t i = 0; i < model.vocabulary.size(); ++i) {
    const auto& spelling = model.vocabulary[i].first;
    tokens.push_back({spelling, model.scores[i]});
    if (!model.unknown.empty() && spelling == model.unknown) unknown = i;
  }
  return {{"type", "Unigram"},
          {"unk_id", unknown},
          {"vocab", std::move(tokens)},
          {"byte_fallback", model.byte_fallback}};
}

Json bpe_json(const TokenizerModel& model) {
  auto merges = Json::array();
  for (const auto& [left, right] : model.merges) merges.push_back(left + " " + right);
  const bool characters = model.units == TokenUnits::Characters;
  Json bpe = {{"type", "BPE"},
              {"dropout", nullptr},
              {"unk_token", model.unknown.empty() ? Json() : Json(model.unknown)},
              {"continuing_subword_prefix", nullptr},
              {"end_of_word_suffix", nullptr},
              {"fuse_unk", model.fuse_unknown},
              {"byte_fallback", characters && model.byte_fallback},
              {"ignore_merges", model.ignore_merges}};
  bpe["vocab"] = vocabulary_json(model);
  bpe["merges"] = std::move(merges);
  return bpe;
}

}  // namespace

std::string tokenizer_json(const TokenizerModel& model) {
  const bool characters = model.units == TokenUnits::Characters;
  Json root = {{"version", "1.0"},
               {"truncation", nullptr},
               {"padding", nullptr},
               {"added_tokens", added_json(model.added)},
               {"normalizer", normal_json(model)}};
  root["pre_tokenizer"] = characters ? character_split_json(model.split) : split_json(model.split);
  root["post_processor"] = frame_json(model);
  root["decoder"] = decoder_json(model);
  root["model"] = model.scores.empty() ? bpe_json(model) : unigram_json(model);
  return root.dump(1) + "\n";
}

void write_tokenizer(const std::filesystem::path& path, const TokenizerModel& model) {
  write_file(path, tokenizer_json(model));
}

}  // namespace ubique::io
