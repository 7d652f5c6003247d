// SPDX-License-Identifier: Apache-2.0
// Reads tokenizer.json: BPE over bytes or characters, and Unigram. A part that would change the
// tokens and is not supported is an error, never ignored.
#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/base64.h"
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
  if (apart && pattern == kLlama3Pattern) return steps.push_back(SplitStep::Llama3Words);
  if (apart && pattern == kQwen2Pattern) return steps.push_back(SplitStep::Qwen2Words);
  if (apart && !inverted && pattern == R"(\p{N})") return steps.push_back(SplitStep::EachNumber);
  refuse(where, "pre_tokenizer Split at '" + printable(pattern, 80) + "', " + behaviour,
         R"(the pattern of GPT-2, Llama 3 or Qwen 2, or \p{N}, Isolated)");
}

void add_mark_steps(const Json& step, WordSplit& steps, const std::string& where) {
  if (text_member(step, "replacement") != kSpaceMark) {
    refuse(where, "replacement of Metaspace", std::string(kSpaceMark));
  }
  const auto scheme = text_member(step, "prepend_scheme");
  const bool prefix = bool_member(step, "add_prefix_space", true);  // of older files
  if (scheme == "never" || (scheme.empty() && !prefix)) {
    steps.push_back(SplitStep::SpaceMarks);
  } else if (scheme == "first") {
    steps.push_back(SplitStep::MarkFirst);
  } else if (scheme == "always" || scheme.empty()) {
    steps.push_back(SplitStep::MarkEach);
  } else {
    refuse(where, "prepend_scheme of Metaspace", "first, always or never");
  }
  if (bool_member(step, "split", true)) steps.push_back(SplitStep::CutAtMarks);
}

/// `bytes` says that a ByteLevel step was met: it spells bytes, so nothing may be cut after it.
void add_split_steps(const Json& step, WordSplit& steps, bool& bytes, const std::string& where) {
  const auto type = text_member(step, "type");
  if (bytes) refuse(where, "pre_tokenizer " + type_of(step) + " after ByteLevel", "none");
  if (type == "Sequence") {
    for (const auto& part : member_of(step, "pretokenizers")) {
      add_split_steps(part, steps, bytes, where);
    }
  } else if (type == "Digits") {
    steps.push_back(bool_member(step, "individual_digits", false) ? SplitStep::EachNumber
                                                                  : SplitStep::NumberRuns);
  } else if (type == "Split") {
    add_pattern_step(step, steps, where);
  } else if (type == "Metaspace") {
    add_mark_steps(step, steps, where);
  } else if (type == "Whitespace" || type == "WhitespaceSplit") {
    steps.push_back(type == "Whitespace" ? SplitStep::WordRuns : SplitStep::CutAtSpace);
  } else if (type == "ByteLevel") {
    if (bool_member(step, "add_prefix_space", true)) steps.push_back(SplitStep::PrefixSpace);
    if (bool_member(step, "use_regex", true)) steps.push_back(SplitStep::Words);
    bytes = true;
  } else {
    refuse(where, "pre_tokenizer " + type_of(step),
           "Digits, Split, Metaspace, Whitespace, WhitespaceSplit, ByteLevel or a Sequence");
  }
  check(steps.size() <= 16, ErrorKind::Input,
        "[io.tokenizer] {} has more than 16 steps before its words.", where);
}

/// Spaces to marks, or runs of spaces to one.
void add_replace_step(const Json& step, NormalSteps& steps, const std::string& where) {
  const auto& pattern = member_of(step, "pattern");
  const auto content = text_member(step, "content");
  const bool runs = text_member(pattern, "Regex") == " {2,}";
  if (text_member(pattern, "String") == " " && content == kSpaceMark) {
    steps.push_back(NormalStep::SpacesToMarks);
  } else if (runs && content == " ") {
    steps.push_back(NormalStep::MergeSpaces);
  } else if (runs && content == kSpaceMark) {
    steps.push_back(NormalStep::RunsToMark);
  } else {
    refuse(where, "normalizer 'Replace'", "spaces with \u2581, or ' {2,}' with a space or \u2581");
  }
}

void read_chars_map(const Json& step, TokenizerModel& model, const std::string& where) {
  auto bytes = from_base64(text_member(step, "precompiled_charsmap"));
  if (!bytes || model.chars_map) {
    refuse(where, bytes ? "a second precompiled_charsmap" : "precompiled_charsmap",
           "one in base64");
  }
  model.chars_map = std::make_shared<CharsMap>(std::move(*bytes), where);
  model.normal.push_back(NormalStep::Table);
}

void add_normal_steps(const Json& step, TokenizerModel& model, const std::string& where) {
  const auto type = text_member(step, "type");
  auto& steps = model.normal;
  if (step.is_null()) return;
  if (type == "Sequence") {
    for (const auto& part : member_of(step, "normalizers")) add_normal_steps(part, model, where);
  } else if (type == "NFC") {
    steps.push_back(NormalStep::Nfc);
  } else if (type == "Prepend" && text_member(step, "prepend") == kSpaceMark) {
    steps.push_back(NormalStep::PrependMark);
  } else if (type == "Replace") {
    add_replace_step(step, steps, where);
  } else if (type == "Precompiled") {
    read_chars_map(step, model, where);
  } else if (type == "Strip") {
    if (bool_member(step, "strip_left", false)) steps.push_back(NormalStep::StripLeft);
    if (bool_member(step, "strip_right", false)) steps.push_back(NormalStep::StripRight);
  } else {
    refuse(where, "normalizer " + type_of(step),
           "NFC, Precompiled, Strip, Prepend or Replace with \u2581, a Sequence, or none");
  }
  check(steps.size() <= 16, ErrorKind::Input, "[io.tokenizer] {} has more than 16 normalizers.",
        where);
}

/// The decoders of vocabularies over characters: marks to spaces, byte tokens to bytes.
void read_character_decoder(const Json& part, TokenizerModel& model, const std::string& where) {
  const auto type = text_member(part, "type");
  if (type == "Sequence") {
    for (const auto& each : member_of(part, "decoders")) read_character_decoder(each, model, where);
  } else if (type == "Metaspace") {
    model.strip_decoded = text_member(part, "prepend_scheme") != "never" &&
                          bool_member(part, "add_prefix_space", true);
  } else if (type == "Strip") {
    model.strip_decoded = text_member(part, "content") == " " && member_of(part, "start") == 1;
    const auto& stop = member_of(part, "stop");
    if (!model.strip_decoded || stop != 0)
      refuse(where, "decoder 'Strip'", "one space at the start");
  } else {
    const bool marks = type == "Replace" && text_member(part, "content") == " " &&
                       text_member(member_of(part, "pattern"), "String") == kSpaceMark;
    if (!marks && type != "ByteFallback" && type != "Fuse") {
      refuse(where, "decoder " + type_of(part),
             "ByteLevel; or Replace, ByteFallback, Fuse, Strip or Metaspace");
    }
  }
}

/// Whether a decoder is ByteLevel, or a Sequence of such.
bool is_byte_level(const Json& part) {
  const auto type = text_member(part, "type");
  if (type == "ByteLevel") return true;
  const auto& parts = member_of(part, "decoders");
  return type == "Sequence" && parts.is_array() && !parts.empty() &&
         std::all_of(parts.begin(), parts.end(), is_byte_level);
}

/// Without a decoder, a text is its tokens with spaces between.
void read_decoder(const Json& decoder, TokenizerModel& model, const std::string& where) {
  if (is_byte_level(decoder)) return;
  model.units = TokenUnits::Characters;
  model.spaced_decoded = decoder.is_null();
  if (decoder.is_null()) return;
  read_character_decoder(decoder, model, where);
}

/// [<s>, A, </s>]: what stands before and after the text.
void read_frame(const Json& part, TokenizerModel& model, const std::string& where) {
  bool after = false;
  for (const auto& piece : member_of(part, "single")) {
    const auto& special = member_of(piece, "SpecialToken");
    if (special.is_null()) {
      if (member_of(piece, "Sequence").is_null() || after) {
        refuse(where, "post_processor TemplateProcessing", "special tokens around one text");
      }
      after = true;
      continue;
    }
    const auto& known = member_of(part, "special_tokens");
    const auto& ids = member_of(member_of(known, text_member(special, "id").c_str()), "ids");
    if (!ids.is_array()) refuse(where, "a token of TemplateProcessing without ids", "ids");
    for (const auto& id : ids) (after ? model.end : model.begin).push_back(token_id(id, where));
  }
}

void read_processor(const Json& part, TokenizerModel& model, const std::string& where) {
  const auto type = text_member(part, "type");
  if (part.is_null() || type == "ByteLevel") return;
  if (type == "Sequence") {
    for (const auto& each : member_of(part, "processors")) read_processor(each, model, where);
  } else if (type == "TemplateProcessing") {
    read_frame(part, model, where);
  } else {
    refuse(where, "post_processor " + type_of(part), "none, ByteLevel or TemplateProcessing");
  }
}

void read_words(const Json& step, TokenizerModel& model, const std::string& where) {
  model.split.clear();
  bool bytes = false;
  const bool characters = model.units == TokenUnits::Characters;
  if (!step.is_null() || !characters) add_split_steps(step, model.split, bytes, where);
  if (bytes == characters) {
    refuse(where,
           bytes ? "pre_tokenizer ByteLevel with another decoder" : "decoder ByteLevel alone",
           "ByteLevel as both or neither");
  }
}

void check_model(const Json& model, const std::string& where) {
  const auto type = text_member(model, "type");
  if (!model.is_object() || (!type.empty() && type != "BPE" && type != "Unigram")) {
    refuse(where, "model " + type_of(model), "BPE or Unigram");
  }
  const auto& dropout = member_of(model, "dropout");
  if (dropout.is_number() && dropout.get<double>() != 0) refuse(where, "dropout", "none");
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
    model.added.push_back({.id = token_id(id, where),
                           .content = text_member(entry, "content"),
                           .special = bool_member(entry, "special", false),
                           .strip_left = bool_member(entry, "lstrip", false),
                           .strip_right = bool_member(entry, "rstrip", false),
                           .normalized = bool_member(entry, "normalized", false),
                           .single_word = bool_member(entry, "single_word", false)});
  }
}

/// [["token", score], ...], in the order of their ids.
void read_unigram(const Json& unigram, TokenizerModel& model, const std::string& where) {
  if (model.units == TokenUnits::Bytes) refuse(where, "Unigram over bytes", "another decoder");
  const auto& list = member_of(unigram, "vocab");
  check(list.is_array() && !list.empty(), ErrorKind::Input,
        "[io.tokenizer] {} has no vocabulary; got {}, expected tokens with their scores.", where,
        list.type_name());
  for (const auto& entry : list) {
    const auto id = model.vocabulary.size();
    check(entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_number(),
          ErrorKind::Input, "[io.tokenizer] {}: token {} is not [\"text\", score].", where, id);
    model.vocabulary.emplace_back(entry[0].get<std::string>(), static_cast<std::int32_t>(id));
    model.scores.push_back(entry[1].get<double>());
  }
  const auto& unknown = member_of(unigram, "unk_id");
  if (unknown.is_null()) return;
  const auto id = static_cast<std::size_t>(token_id(unknown, where));
  check(id < model.vocabulary.size(), ErrorKind::Input,
        "[io.tokenizer] {}: unk_id is no token; got {}, expected less than {}.", where, id,
        model.vocabulary.size());
  model.unknown = model.vocabulary[id].first;
}

void read_bpe(const Json& bpe, TokenizerModel& model, const std::string& where) {
  model.ignore_merges = bool_member(bpe, "ignore_merges", false);
  read_vocabulary(member_of(bpe, "vocab"), model, where);
  read_merges(member_of(bpe, "merges"), model, where);
  if (model.units == TokenUnits::Characters) model.unknown = text_member(bpe, "unk_token");
  model.fuse_unknown = bool_member(bpe, "fuse_unk", false);
}

}  // namespace

Tokenizer parse_tokenizer_json(std::string_view text, const std::string& where) {
  const auto root = parse_json(text, where);
  const auto& core = member_of(root, "model");
  check_model(core, where);
  TokenizerModel model;
  read_decoder(member_of(root, "decoder"), model, where);
  const bool characters = model.units == TokenUnits::Characters;
  model.byte_fallback = bool_member(core, "byte_fallback", false);
  if (model.byte_fallback && !characters) {
    refuse(where, "byte_fallback with the decoder ByteLevel", "false");
  }
  add_normal_steps(member_of(root, "normalizer"), model, where);
  read_words(member_of(root, "pre_tokenizer"), model, where);
  read_processor(member_of(root, "post_processor"), model, where);
  const bool unigram = text_member(core, "type") == "Unigram";
  (unigram ? read_unigram : read_bpe)(core, model, where);
  read_added(member_of(root, "added_tokens"), model, where);
  Tokenizer tokenizer(std::move(model), where);
  const auto unknown = text_member(core, "unk_token");
  if (!characters && !unknown.empty() && tokenizer.lacks_bytes()) {
    refuse(where, "unk_token '" + printable(unknown, 40) + "' with bytes that have no token",
           "none, or tokens for all 256 bytes");
  }
  return tokenizer;
}

}  // namespace ubique::io
