// SPDX-License-Identifier: Apache-2.0
// Finding a tokenizer in a folder, GPT-2's pair of files, and writing tokenizer.json.
#include "ubique/io/text/tokenizer_files.h"
#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEndOfText = "<|endoftext|>";
constexpr std::int64_t kLongestTokenizer = 1LL << 28;  // the largest known are 20 MB

Json step_json(SplitStep step) {
  switch (step) {
    case SplitStep::EachNumber:
      return {{"type", "Digits"}, {"individual_digits", true}};
    case SplitStep::NumberRuns:
      return {{"type", "Digits"}, {"individual_digits", false}};
    case SplitStep::PrefixSpace:  // without words of its own; bytes are spelled once, at the end
    case SplitStep::Words:
      break;
  }
  return {{"type", "Split"},
          {"pattern", {{"Regex", kWordPattern}}},
          {"behavior", "Isolated"},
          {"invert", false}};
}

Json byte_level_json(bool prefix_space, bool words) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", prefix_space},
          {"trim_offsets", true},
          {"use_regex", words}};
}

/// ByteLevel is one step of a file for up to three of ours (blank, words, spelling of bytes), and
/// must be its last one.
Json split_json(const WordSplit& steps) {
  auto end = steps.size();
  const bool words = end > 0 && steps[end - 1] == SplitStep::Words;
  if (words) --end;
  const bool prefix = end > 0 && steps[end - 1] == SplitStep::PrefixSpace;
  if (prefix) --end;
  const auto last = byte_level_json(prefix, words);
  if (end == 0) return last;
  auto list = Json::array();
  for (std::size_t i = 0; i < end; ++i) {
    check(steps[i] != SplitStep::PrefixSpace, ErrorKind::Internal,
          "[io.tokenizer] a blank before pieces that are cut again cannot be written.");
    list.push_back(step_json(steps[i]));
  }
  list.push_back(last);
  return {{"type", "Sequence"}, {"pretokenizers", list}};
}

Json added_json(const std::vector<AddedToken>& tokens) {
  auto list = Json::array();
  for (const auto& token : tokens) {
    list.push_back({{"id", token.id},
                    {"content", token.content},
                    {"single_word", false},
                    {"lstrip", token.strip_left},
                    {"rstrip", token.strip_right},
                    {"normalized", token.normalized},
                    {"special", token.special}});
  }
  return list;
}

/// Objects of tens of thousands of keys: straight to the end of the list, without a search.
Json vocabulary_json(const TokenizerModel& model) {
  auto object = Json::object();
  auto& entries = object.get_ref<Json::object_t&>();
  for (const auto& [spelling, id] : model.vocabulary) entries.emplace_back(spelling, id);
  return object;
}

}  // namespace

std::string tokenizer_json(const TokenizerModel& model) {
  auto merges = Json::array();
  for (const auto& [left, right] : model.merges) merges.push_back(left + " " + right);
  Json root = {{"version", "1.0"},          {"truncation", nullptr},
               {"padding", nullptr},        {"added_tokens", added_json(model.added)},
               {"normalizer", nullptr},     {"pre_tokenizer", split_json(model.split)},
               {"post_processor", nullptr}, {"decoder", byte_level_json(true, true)}};
  root["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", false},
                   {"ignore_merges", model.whole_words_first}};
  root["model"]["vocab"] = vocabulary_json(model);
  root["model"]["merges"] = std::move(merges);
  return root.dump(1) + "\n";
}

void write_tokenizer(const fs::path& path, const TokenizerModel& model) {
  write_file(path, tokenizer_json(model));
}

Tokenizer parse_gpt2_tokenizer(std::string_view vocabulary, std::string_view merges,
                               std::string_view added, const std::string& where) {
  TokenizerModel model;
  read_vocabulary(parse_json(vocabulary, where), model, where);
  while (!merges.empty()) {
    const auto end = std::min(merges.find('\n'), merges.size());
    auto line = std::string(merges.substr(0, end));
    merges.remove_prefix(std::min(end + 1, merges.size()));
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with("#version")) continue;
    model.merges.push_back(merge_line(line, where));
  }
  for (const auto& [spelling, id] : model.vocabulary) {
    if (spelling == kEndOfText) model.added.push_back({.id = id, .content = spelling});
  }
  TokenizerModel extra;
  if (!added.empty()) read_vocabulary(parse_json(added, where), extra, where);
  for (const auto& [content, id] : extra.vocabulary) {
    if (content != kEndOfText) model.added.push_back({.id = id, .content = content});
  }
  return Tokenizer(std::move(model), where);
}

Tokenizer read_tokenizer(const fs::path& path) {
  const auto text = [](const fs::path& file) { return read_file(file, kLongestTokenizer); };
  if (!fs::is_directory(path)) return parse_tokenizer_json(text(path), path.string());
  if (fs::exists(path / "tokenizer.json")) {
    return parse_tokenizer_json(text(path / "tokenizer.json"), (path / "tokenizer.json").string());
  }
  const bool pair = fs::exists(path / "vocab.json") && fs::exists(path / "merges.txt");
  check(pair, ErrorKind::Input,
        "[io.tokenizer] no tokenizer in {}; expected tokenizer.json, or vocab.json and merges.txt.",
        path.string());
  const auto added = path / "added_tokens.json";
  return parse_gpt2_tokenizer(text(path / "vocab.json"), text(path / "merges.txt"),
                              fs::exists(added) ? text(added) : std::string(), path.string());
}

}  // namespace ubique::io
