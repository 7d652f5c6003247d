// SPDX-License-Identifier: Apache-2.0
// Builds the tables, encodes and decodes.
#include "ubique/io/text/tokenizer.h"

#include <algorithm>
#include <unordered_set>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/text/tokenizer_bytes.h"
#include "ubique/io/text/unicode/unicode.h"

namespace ubique::io {
namespace {

/// Some files skip ids; ids up to twice the number of tokens plus this are accepted.
constexpr std::int64_t kMostGaps = 65'536;

bool is_space_at(std::string_view text, std::size_t at) {
  const auto point = code_point_at(text, at);
  return point.valid && character_class(point.value) == CharacterClass::Space;
}

std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty()) {
    auto last = text.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xC0U) == 0x80U) --last;
    if (!is_space_at(text, last)) break;
    text = text.substr(0, last);
  }
  return text;
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
    add_token(id, spelling, raw_bytes(spelling).value_or(spelling), where);
  }
  add_words();
  byte_ids_.fill(-1);
  for (unsigned byte = 0; byte < byte_ids_.size(); ++byte) {
    const auto found = find(visible_bytes(std::string(1, static_cast<char>(byte))));
    if (found) byte_ids_[byte] = *found;
    lacks_bytes_ = lacks_bytes_ || !found;
  }
  add_merges(where);
  add_added(where);
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
    if (!special.contains(id)) words_.emplace(bytes(id), id);
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
    added_by_byte_[static_cast<unsigned char>(added.content.front())].push_back(i);
  }
  for (auto& group : added_by_byte_) {
    std::stable_sort(group.begin(), group.end(), [&](std::size_t a, std::size_t b) {
      return model_.added[a].content.size() > model_.added[b].content.size();
    });
  }
}

const AddedToken* Tokenizer::added_at(std::string_view text, std::size_t at,
                                      SpecialTokens special) const {
  for (const auto i : added_by_byte_[static_cast<unsigned char>(text[at])]) {
    const auto& added = model_.added[i];
    if (added.special && special == SpecialTokens::AsText) continue;
    if (text.substr(at).starts_with(added.content)) return &added;
  }
  return nullptr;
}

void Tokenizer::encode_plain(std::string_view text, Merger& merger,
                             std::vector<std::int32_t>& out) const {
  std::vector<std::int32_t> bytes;
  split_words(text, model_.split, [&](std::string_view word) {
    if (model_.ignore_merges) {
      if (const auto found = words_.find(std::string(word)); found != words_.end()) {
        return out.push_back(found->second);
      }
    }
    bytes.clear();
    for (const char byte : word) {
      const auto id = byte_ids_[static_cast<unsigned char>(byte)];
      if (id >= 0) bytes.push_back(id);
    }
    merger.apply(bytes, out);
  });
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, SpecialTokens special) const {
  std::vector<std::int32_t> ids;
  Merger merger(merges_);
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto* added = added_at(text, at, special);
    if (added == nullptr) {
      ++at;
      continue;
    }
    const auto before = text.substr(start, at - start);
    encode_plain(added->strip_left ? without_trailing_space(before) : before, merger, ids);
    ids.push_back(added->id);
    at += added->content.size();
    while (added->strip_right && at < text.size() && is_space_at(text, at)) {
      at += code_point_at(text, at).length;
    }
    start = at;
  }
  encode_plain(text.substr(start), merger, ids);
  return ids;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
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
