// SPDX-License-Identifier: Apache-2.0
// tokenizer.json, read and written, as far as it is byte-level BPE. A part that would change the
// tokens and is not supported is an error, never ignored.
#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/text/tokenizer.h"
#include "ubique/io/text/tokenizer_files.h"

namespace ubique::io {
namespace {

const Json& member_of(const Json& object, const char* key) {
  static const Json none;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? none : *found;
}

std::string text_member(const Json& object, const char* key) {
  const auto& value = member_of(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool bool_member(const Json& object, const char* key, bool otherwise) {
  const auto& value = member_of(object, key);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}

[[noreturn]] void refuse(const std::string& where, const std::string& part,
                         const std::string& expected) {
  fail(ErrorKind::Input, "[io.tokenizer] {}: {} is not understood; expected {}.", where, part,
       expected);
}

/// The type of a step, for messages.
std::string type_of(const Json& step) {
  const auto type = text_member(step, "type");
  return type.empty() ? "without a type" : "'" + printable(type, 40) + "'";
}

void add_pattern_step(const Json& step, WordSplit& steps, const std::string& where) {
  const auto pattern = text_member(member_of(step, "pattern"), "Regex");
  const auto behaviour = text_member(step, "behavior");
  const bool inverted = bool_member(step, "invert", false);
  const bool apart = behaviour == "Isolated" || (inverted && behaviour == "Removed");
  if (apart && pattern == kWordPattern) return steps.push_back(SplitStep::Words);
  if (apart && !inverted && pattern == R"(\p{N})") return steps.push_back(SplitStep::EachNumber);
  refuse(where, "pre_tokenizer Split at '" + printable(pattern, 80) + "', " + behaviour,
         R"(GPT-2's pattern or \p{N}, Isolated)");
}

void add_split_steps(const Json& step, WordSplit& steps, const std::string& where) {
  const auto type = text_member(step, "type");
  if (type == "Sequence") {
    for (const auto& part : member_of(step, "pretokenizers")) add_split_steps(part, steps, where);
  } else if (type == "Digits") {
    steps.push_back(bool_member(step, "individual_digits", false) ? SplitStep::EachNumber
                                                                  : SplitStep::NumberRuns);
  } else if (type == "Split") {
    add_pattern_step(step, steps, where);
  } else if (type == "ByteLevel") {
    if (bool_member(step, "add_prefix_space", true)) steps.push_back(SplitStep::PrefixSpace);
    if (bool_member(step, "use_regex", true)) steps.push_back(SplitStep::Words);
  } else {
    refuse(where, "pre_tokenizer " + type_of(step), "Digits, Split, ByteLevel or a Sequence");
  }
  check(steps.size() <= 16, ErrorKind::Input,
        "[io.tokenizer] {} has more than 16 steps before its words.", where);
}

/// Whether a post_processor or decoder is ByteLevel, or a Sequence of such.
bool is_byte_level(const Json& part, const char* list) {
  const auto type = text_member(part, "type");
  if (type == "ByteLevel") return true;
  const auto& parts = member_of(part, list);
  return type == "Sequence" && parts.is_array() && !parts.empty() &&
         std::all_of(parts.begin(), parts.end(),
                     [&](const Json& each) { return is_byte_level(each, list); });
}

void check_other_parts(const Json& root, const std::string& where) {
  const auto& normalizer = member_of(root, "normalizer");
  if (!normalizer.is_null()) refuse(where, "normalizer " + type_of(normalizer), "none");
  const auto& processor = member_of(root, "post_processor");
  if (!processor.is_null() && !is_byte_level(processor, "processors")) {
    refuse(where, "post_processor " + type_of(processor), "none or ByteLevel");
  }
  const auto& decoder = member_of(root, "decoder");
  if (!is_byte_level(decoder, "decoders")) {
    refuse(where, "decoder " + type_of(decoder), "ByteLevel");
  }
}

void check_model(const Json& model, const std::string& where) {
  const auto type = text_member(model, "type");
  if (!model.is_object() || (!type.empty() && type != "BPE")) {
    refuse(where, "model " + type_of(model), "BPE");
  }
  const auto& dropout = member_of(model, "dropout");
  if (dropout.is_number() && dropout.get<double>() != 0) refuse(where, "dropout", "none");
  if (bool_member(model, "byte_fallback", false)) refuse(where, "byte_fallback", "false");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!text_member(model, key).empty()) refuse(where, key, "none");
  }
}

void read_merges(const Json& merges, TokenizerModel& model, const std::string& where) {
  check(merges.is_array(), ErrorKind::Input,
        "[io.tokenizer] {} has no merges; got {}, expected a list.", where, merges.type_name());
  for (const auto& merge : merges) {
    if (merge.is_string()) {
      model.merges.push_back(merge_line(merge.get_ref<const std::string&>(), where));
      continue;
    }
    const bool pair =
        merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
    check(pair, ErrorKind::Input,
          "[io.tokenizer] {}: merge {} is neither \"a b\" nor [\"a\", \"b\"].", where,
          model.merges.size());
    model.merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
  }
}

void read_added(const Json& list, TokenizerModel& model, const std::string& where) {
  for (const auto& entry : list) {
    const auto& id = member_of(entry, "id");
    check(id.is_number_integer() && member_of(entry, "content").is_string(), ErrorKind::Input,
          "[io.tokenizer] {}: added token {} lacks its id or content.", where, model.added.size());
    if (bool_member(entry, "single_word", false)) {
      refuse(where, "single_word of an added token", "false");
    }
    model.added.push_back({.id = token_id(id, where),
                           .content = text_member(entry, "content"),
                           .special = bool_member(entry, "special", false),
                           .strip_left = bool_member(entry, "lstrip", false),
                           .strip_right = bool_member(entry, "rstrip", false),
                           .normalized = bool_member(entry, "normalized", false)});
  }
}

Json step_json(SplitStep step) {
  switch (step) {
    case SplitStep::EachNumber:
      return {{"type", "Digits"}, {"individual_digits", true}};
    case SplitStep::NumberRuns:
      return {{"type", "Digits"}, {"individual_digits", false}};
    case SplitStep::PrefixSpace:  // both are part of the final ByteLevel
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

/// Appends directly: an ordered object would search its tens of thousands of keys for each.
Json vocabulary_json(const TokenizerModel& model) {
  auto object = Json::object();
  auto& entries = object.get_ref<Json::object_t&>();
  for (const auto& [spelling, id] : model.vocabulary) entries.emplace_back(spelling, id);
  return object;
}

}  // namespace

Tokenizer parse_tokenizer_json(std::string_view text, const std::string& where) {
  const auto root = parse_json(text, where);
  const auto& bpe = member_of(root, "model");
  check_model(bpe, where);
  check_other_parts(root, where);
  TokenizerModel model;
  model.split.clear();
  add_split_steps(member_of(root, "pre_tokenizer"), model.split, where);
  model.ignore_merges = bool_member(bpe, "ignore_merges", false);
  read_vocabulary(member_of(bpe, "vocab"), model, where);
  read_merges(member_of(bpe, "merges"), model, where);
  read_added(member_of(root, "added_tokens"), model, where);
  const auto unknown = text_member(bpe, "unk_token");
  Tokenizer tokenizer(std::move(model), where);
  if (!unknown.empty() && tokenizer.lacks_bytes()) {
    refuse(where, "unk_token '" + printable(unknown, 40) + "' with bytes that have no token",
           "none, or tokens for all 256 bytes");
  }
  return tokenizer;
}

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
                   {"ignore_merges", model.ignore_merges}};
  root["model"]["vocab"] = vocabulary_json(model);
  root["model"]["merges"] = std::move(merges);
  return root.dump(1) + "\n";
}

void write_tokenizer(const std::filesystem::path& path, const TokenizerModel& model) {
  write_file(path, tokenizer_json(model));
}

}  // namespace ubique::io
