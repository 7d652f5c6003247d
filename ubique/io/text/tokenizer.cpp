// SPDX-License-Identifier: Apache-2.0
// Builds the tables and decodes; tokenizer_encode.cpp encodes.
#include "ubique/io/text/tokenizer.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/text/tokenizer_bytes.h"
#include "ubique/io/text/tokenizer_encode.h"

namespace ubique::io {
namespace {

/// Some files skip ids; ids up to twice the number of tokens plus this are accepted.
constexpr std::int64_t kMostGaps = 65'536;

/// The byte that "<0x0A>" stands for; -1 for other spellings.
int byte_of_spelling(const std::string& spelling) {
  const bool form = spelling.size() == 6 && spelling.starts_with("<0x") && spelling.back() == '>';
  int value = 0;
  const auto* end = spelling.data() + 5;
  const bool digits = form && std::from_chars(spelling.data() + 3, end, value, 16).ptr == end;
  return digits ? value : -1;
}

/// Plain text must not become one of these, neither as a whole word nor by merges.
std::unordered_set<std::int32_t> special_ids(const TokenizerModel& model) {
  std::unordered_set<std::int32_t> ids;
  for (const auto& added : model.added) {
    if (added.special) ids.insert(added.id);
  }
  return ids;
}

}  // namespace

Tokenizer::Tokenizer(TokenizerModel model, const std::string& where) : model_(std::move(model)) {
  std::int64_t largest = -1;
  const auto measure = [&](std::int32_t id) {
    check(id >= 0, ErrorKind::Input, "[io.tokenizer] {} has a negative token id; got {}.", where,
          id);
    largest = std::max<std::int64_t>(largest, id);
  };
  for (const auto& [spelling, id] : model_.vocabulary) measure(id);
  for (const auto& added : model_.added) measure(added.id);
  const auto count = static_cast<std::int64_t>(model_.vocabulary.size() + model_.added.size());
  check(largest < 2 * count + kMostGaps, ErrorKind::Input,
        "[io.tokenizer] {} has token ids far beyond its {} tokens; got {}.", where, count, largest);
  tokens_.resize(static_cast<std::size_t>(largest + 1));
  ids_.reserve(static_cast<std::size_t>(count));

  for (const auto& [spelling, id] : model_.vocabulary) {
    add_token(id, spelling, bytes_of(spelling), where);
  }
  add_words();
  add_bytes();
  add_merges(where);
  add_scores(where);
  add_added(where);
}

std::string Tokenizer::bytes_of(const std::string& spelling) const {
  if (model_.units == TokenUnits::Bytes) return raw_bytes(spelling).value_or(spelling);
  if (const auto byte = byte_of_spelling(spelling); byte >= 0) {
    return std::string(1, static_cast<char>(byte));
  }
  std::string bytes;
  for (std::size_t at = 0; at < spelling.size();) {
    const bool mark = std::string_view(spelling).substr(at).starts_with(kSpaceMark);
    bytes += mark ? ' ' : spelling[at];
    at += mark ? kSpaceMark.size() : 1;
  }
  return bytes;
}

void Tokenizer::add_bytes() {
  byte_ids_.fill(-1);
  for (unsigned byte = 0; byte < byte_ids_.size(); ++byte) {
    const auto found = find(model_.units == TokenUnits::Bytes
                                ? visible_bytes(std::string(1, static_cast<char>(byte)))
                                : fmt::format("<0x{:02X}>", byte));
    if (found) byte_ids_[byte] = *found;
    lacks_bytes_ = lacks_bytes_ || !found;
  }
  if (!model_.unknown.empty()) unknown_ = find(model_.unknown).value_or(-1);
}

void Tokenizer::add_token(std::int32_t id, const std::string& spelling, std::string bytes,
                          const std::string& where) {
  auto& token = tokens_[static_cast<std::size_t>(id)];
  check(!token.exists, ErrorKind::Input,
        "[io.tokenizer] {} gives the id {} to two tokens; got '{}' and '{}'.", where, id,
        printable(token.spelling), printable(spelling));
  check(ids_.emplace(spelling, id).second, ErrorKind::Input,
        "[io.tokenizer] {} has the token '{}' twice.", where, printable(spelling));
  token = {spelling, std::move(bytes), true, false};
}

void Tokenizer::add_words() {
  if (!model_.ignore_merges) return;
  const auto special = special_ids(model_);
  for (const auto& [spelling, id] : model_.vocabulary) {
    if (special.contains(id)) continue;
    words_.emplace(model_.units == TokenUnits::Bytes ? bytes(id) : spelling, id);
  }
}

void Tokenizer::add_merges(const std::string& where) {
  merges_.reserve(model_.merges.size());
  const auto special = special_ids(model_);
  std::int32_t rank = 0;
  for (const auto& [left, right] : model_.merges) {
    const auto id_of = [&](const std::string& spelling) {
      const auto found = find(spelling);
      check(found.has_value(), ErrorKind::Input,
            "[io.tokenizer] {}: merge {} ('{}' and '{}') needs a token that the vocabulary lacks; "
            "got '{}'.",
            where, rank, printable(left), printable(right), printable(spelling));
      return *found;
    };
    const auto merged = id_of(left + right);
    if (!special.contains(merged)) merges_.add(id_of(left), id_of(right), {rank, merged});
    ++rank;
  }
}

void Tokenizer::add_scores(const std::string& where) {
  if (model_.scores.empty()) return;
  check(model_.scores.size() == model_.vocabulary.size(), ErrorKind::Internal,
        "[io.tokenizer] {} has {} scores for {} tokens.", where, model_.scores.size(),
        model_.vocabulary.size());
  const auto special = special_ids(model_);
  std::size_t bytes = 0;
  for (const auto& [spelling, id] : model_.vocabulary) bytes += spelling.size();
  unigram_.reserve(bytes);
  for (std::size_t i = 0; i < model_.scores.size(); ++i) {
    const auto& [spelling, id] = model_.vocabulary[i];
    if (special.contains(id)) {
      unigram_.add_hidden(model_.scores[i]);
    } else {
      unigram_.add(spelling, id, model_.scores[i]);
    }
  }
}

void Tokenizer::add_added(const std::string& where) {
  for (std::size_t i = 0; i < model_.added.size(); ++i) {
    const auto& added = model_.added[i];
    check(!added.content.empty(), ErrorKind::Input,
          "[io.tokenizer] {} has an added token without content; its id is {}.", where, added.id);
    const auto known = find(added.content);
    if (!known) add_token(added.id, added.content, added.content, where);
    check(!known || *known == added.id, ErrorKind::Input,
          "[io.tokenizer] {} gives the added token '{}' two ids; got {} and {}.", where,
          printable(added.content), known.value_or(0), added.id);
    auto& token = tokens_[static_cast<std::size_t>(added.id)];
    token.bytes = added.content;
    token.special = added.special;
    if (added.normalized) {
      normal_added_.add(normalized(added.content, model_.normal, model_.chars_map.get()), i);
    } else {
      raw_added_.add(added.content, i);
    }
  }
  raw_added_.finish();
  normal_added_.finish();
  for (const auto& frame : {model_.begin, model_.end}) {
    for (const auto id : frame) {
      check(id >= 0 && id < size() && tokens_[static_cast<std::size_t>(id)].exists,
            ErrorKind::Input, "[io.tokenizer] {} frames texts with an unknown token; got id {}.",
            where, id);
    }
  }
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, SpecialTokens special) const {
  return TokenEncoder(*this).encode(text, {.special = special});
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, const EncodeOptions& options,
                                            std::vector<std::size_t>* ends) const {
  return TokenEncoder(*this).encode(text, options, ends);
}

/// A run of byte tokens that is no UTF-8 becomes one U+FFFD for each, as the original's.
std::string Tokenizer::decode_characters(std::span<const std::int32_t> ids,
                                         bool skip_special) const {
  std::string text, run;
  const auto finish_run = [&] {
    if (is_utf8(run)) {
      text += run;
    } else {
      for (std::size_t i = 0; i < run.size(); ++i) append_utf8(text, U'\uFFFD');
    }
    run.clear();
  };
  for (const auto id : ids) {
    const auto& known = token(id);
    if (skip_special && known.special) continue;
    if (!known.special && byte_of_spelling(known.spelling) >= 0) {
      run += known.bytes;
      continue;
    }
    finish_run();
    if (model_.spaced_decoded && !text.empty()) text += ' ';
    text += known.bytes;
  }
  finish_run();
  return model_.strip_decoded && text.starts_with(' ') ? text.substr(1) : text;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
  if (model_.units == TokenUnits::Characters) return decode_characters(ids, skip_special);
  std::string raw;
  for (const auto id : ids) {
    const auto& known = token(id);
    if (!(skip_special && known.special)) raw += known.bytes;
  }
  return replace_invalid_utf8(raw);
}

const Tokenizer::Token& Tokenizer::token(std::int32_t id) const {
  const bool known = id >= 0 && id < size() && tokens_[static_cast<std::size_t>(id)].exists;
  check(known, ErrorKind::Input, "[io.tokenizer] no token has the id {}; expected 0 to {}.", id,
        size() - 1);
  return tokens_[static_cast<std::size_t>(id)];
}

const std::string& Tokenizer::bytes(std::int32_t id) const { return token(id).bytes; }

const std::string& Tokenizer::spelling(std::int32_t id) const { return token(id).spelling; }

bool Tokenizer::is_special(std::int32_t id) const { return token(id).special; }

std::optional<std::int32_t> Tokenizer::find(std::string_view spelling) const {
  const auto found = ids_.find(std::string(spelling));
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

void add_special_tokens(TokenizerModel& model, const std::vector<std::string>& contents) {
  std::int32_t next = 0;
  std::unordered_map<std::string, std::int32_t> ids;
  for (const auto& [spelling, id] : model.vocabulary) {
    ids.emplace(spelling, id);
    next = std::max(next, id + 1);
  }
  for (auto& added : model.added) {
    ids.emplace(added.content, added.id);
    next = std::max(next, added.id + 1);
  }
  for (const auto& content : contents) {
    const auto same = [&](const AddedToken& added) { return added.content == content; };
    const auto there = std::find_if(model.added.begin(), model.added.end(), same);
    if (there != model.added.end()) {
      there->special = true;
      continue;
    }
    const auto known = ids.find(content);
    model.added.push_back({.id = known == ids.end() ? next++ : known->second, .content = content});
  }
}

}  // namespace ubique::io
