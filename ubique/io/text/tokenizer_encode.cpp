// SPDX-License-Identifier: Apache-2.0
// Added tokens are cut out of the text, what is left is normalised, those that are matched in
// normalised text are cut out of that, and the rest is words.
#include "ubique/io/text/tokenizer_encode.h"

#include <algorithm>

#include "ubique/base/text/utf8.h"
#include "ubique/io/text/unicode/unicode.h"

namespace ubique::io {
namespace {

bool is_space_at(std::string_view text, std::size_t at) {
  const auto point = code_point_at(text, at);
  return point.valid && character_class(point.value) == CharacterClass::Space;
}

std::size_t last_character(std::string_view text) {
  auto last = text.size() - 1;
  while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xC0U) == 0x80U) --last;
  return last;
}

std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty() && is_space_at(text, last_character(text))) {
    text = text.substr(0, last_character(text));
  }
  return text;
}

/// Whether no character of words stands directly before or after [begin, end).
bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  const auto before = text.substr(0, begin);
  const auto is_word = [&](std::size_t at) {
    const auto point = code_point_at(text, at);
    return point.valid && is_word_character(point.value);
  };
  return (before.empty() || !is_word(last_character(before))) &&
         (end == text.size() || !is_word(end));
}

}  // namespace

struct TokenEncoder::Job {
  EncodeOptions options;
  std::vector<std::int32_t> ids = {};
  std::vector<std::size_t>* ends = nullptr;

  void add(std::int32_t id, std::size_t end) {
    ids.push_back(id);
    if (ends != nullptr) ends->push_back(end);
  }

  /// Whether a special token may be read from bytes [begin, end) of the text.
  bool may_parse(std::size_t begin, std::size_t end) const {
    if (options.special == SpecialTokens::AsText) return false;
    const auto ends_before = [](const TextRange& range, std::size_t at) { return range.end <= at; };
    const auto found =
        std::lower_bound(options.plain.begin(), options.plain.end(), begin, ends_before);
    return found == options.plain.end() || found->begin >= end;
  }
};

std::size_t TokenEncoder::Piece::origin(std::size_t at) const {
  return begin + (origins == nullptr ? at : (*origins)[at]);
}

template <typename Between, typename Matched>
void TokenEncoder::cut_added(const Job& job, const PatternFinder& finder, const Piece& piece,
                             const Between& between, const Matched& matched) const {
  const auto text = piece.text;
  std::size_t start = 0;
  const auto accepts = [&](const PatternFinder::Match& match) {
    const auto& added = tokenizer_.model_.added[match.number];
    const auto end = match.begin + match.size;
    return !added.special || job.may_parse(piece.origin(match.begin), piece.origin(end));
  };
  for (std::size_t at = 0; !finder.empty();) {
    const auto match = finder.find(text, at, accepts);
    if (match.size == 0) break;
    const auto& added = tokenizer_.model_.added[match.number];
    at = match.begin + match.size;
    if (added.single_word && !stands_alone(text, match.begin, at)) continue;
    const auto before = text.substr(start, match.begin - start);
    between(start, added.strip_left ? without_trailing_space(before) : before);
    while (added.strip_right && at < text.size() && is_space_at(text, at)) {
      at += code_point_at(text, at).length;
    }
    matched(added.id, at);
    start = at;
  }
  between(start, text.substr(start));
}

std::vector<std::int32_t> TokenEncoder::encode(std::string_view text, const EncodeOptions& options,
                                               std::vector<std::size_t>* ends) {
  Job job{options, {}, ends};
  if (ends != nullptr) ends->clear();
  job.ids.reserve(text.size() / 4);
  if (options.frame) {
    for (const auto id : tokenizer_.model_.begin) job.add(id, 0);
  }
  encode_raw(job, text);
  if (options.frame) {
    for (const auto id : tokenizer_.model_.end) job.add(id, text.size());
  }
  return std::move(job.ids);
}

void TokenEncoder::encode_raw(Job& job, std::string_view text) {
  const auto& steps = tokenizer_.model_.normal;
  const auto between = [&](std::size_t begin, std::string_view part) {
    if (part.empty()) return;
    if (is_surely_normal(part, steps)) return encode_normal(job, {part, begin, nullptr});
    std::vector<std::size_t> origins;
    const bool wanted = job.ends != nullptr || !job.options.plain.empty();
    const auto normal =
        normalized(part, steps, tokenizer_.model_.chars_map.get(), wanted ? &origins : nullptr);
    if (wanted) origins.push_back(part.size());
    encode_normal(job, {normal, begin, wanted ? &origins : nullptr});
  };
  cut_added(job, tokenizer_.raw_added_, {text, 0, nullptr}, between,
            [&](std::int32_t id, std::size_t end) { job.add(id, end); });
}

void TokenEncoder::encode_normal(Job& job, const Piece& piece) {
  if (tokenizer_.normal_added_.empty()) return encode_words(job, piece);
  std::vector<std::size_t> moved;
  const auto between = [&](std::size_t begin, std::string_view part) {
    if (part.empty()) return;
    if (piece.origins == nullptr) return encode_words(job, {part, piece.begin + begin, nullptr});
    const auto first = piece.origins->begin() + static_cast<std::ptrdiff_t>(begin);
    moved.assign(first, first + static_cast<std::ptrdiff_t>(part.size() + 1));
    encode_words(job, {part, piece.begin, &moved});
  };
  cut_added(job, tokenizer_.normal_added_, piece, between,
            [&](std::int32_t id, std::size_t end) { job.add(id, piece.origin(end)); });
}

void TokenEncoder::encode_words(Job& job, const Piece& piece) {
  const auto first_id = job.ids.size();
  const auto word = [&](std::string_view each) {
    bool known = false;
    const auto key = cache_.key(each);
    const auto seen = cache_.find(key, known);
    if (known) {
      job.ids.insert(job.ids.end(), seen.begin(), seen.end());
      return;
    }
    const auto before = job.ids.size();
    encode_word(each, job.ids);
    cache_.add(key, std::span(job.ids).subspan(before));
  };
  split_words(piece.text, tokenizer_.model_.split, word, piece.origin(0) == 0);
  if (job.ends != nullptr) align(job, piece, first_id);
}

void TokenEncoder::encode_word(std::string_view word, std::vector<std::int32_t>& out) {
  if (tokenizer_.model_.ignore_merges) {
    const auto found = tokenizer_.words_.find(std::string(word));
    if (found != tokenizer_.words_.end()) return out.push_back(found->second);
  }
  if (!tokenizer_.unigram_.empty()) return add_likeliest(word, out);
  symbols_.clear();
  if (tokenizer_.model_.units == TokenUnits::Characters) {
    add_character_symbols(word);
  } else {
    for (const char byte : word) {
      const auto id = tokenizer_.byte_ids_[static_cast<unsigned char>(byte)];
      if (id >= 0) symbols_.push_back(id);
    }
  }
  merger_.apply(symbols_, out);
}

/// The tokens of single bytes, if there is one for each.
bool TokenEncoder::add_bytes(std::string_view bytes, std::vector<std::int32_t>& out) const {
  const auto id_of = [&](char byte) {
    return tokenizer_.byte_ids_[static_cast<unsigned char>(byte)];
  };
  const bool all = tokenizer_.model_.byte_fallback &&
                   std::all_of(bytes.begin(), bytes.end(), [&](char b) { return id_of(b) >= 0; });
  if (!all) return false;
  for (const char byte : bytes) out.push_back(id_of(byte));
  return true;
}

/// The likeliest tokens. A run of unknown characters becomes one token, or bytes; as in the
/// tokenizers library, a token that is the unknown one belongs to such a run.
void TokenEncoder::add_likeliest(std::string_view word, std::vector<std::int32_t>& out) {
  const auto unknown = tokenizer_.unknown_;
  tokenizer_.unigram_.cut(word, parts_);
  const auto is_unknown = [&](const Unigram::Part& part) {
    return part.id == Unigram::kUnknown || part.id == unknown;
  };
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!is_unknown(parts_[i])) {
      out.push_back(parts_[i].id);
      continue;
    }
    const auto begin = parts_[i].begin;
    while (i + 1 < parts_.size() && is_unknown(parts_[i + 1])) ++i;
    const auto run = word.substr(begin, parts_[i].end - begin);
    const auto found = tokenizer_.find(run);
    if (found && !tokenizer_.is_special(*found)) {
      out.push_back(*found);
    } else if (!add_bytes(run, out) && unknown >= 0) {
      out.push_back(unknown);
    }
  }
}

/// The tokens of its characters; bytes for a character without one, else the unknown token.
void TokenEncoder::add_character_symbols(std::string_view word) {
  bool unknown_before = false;
  for (std::size_t at = 0; at < word.size();) {
    const auto length = code_point_at(word, at).length;
    const auto character = word.substr(at, length);
    at += length;
    const auto found = tokenizer_.find(character);
    if (found && !tokenizer_.is_special(*found)) {
      symbols_.push_back(*found);
      unknown_before = false;
      continue;
    }
    if (add_bytes(character, symbols_)) {
      unknown_before = false;
    } else if (tokenizer_.unknown_ >= 0 && !(unknown_before && tokenizer_.model_.fuse_unknown)) {
      symbols_.push_back(tokenizer_.unknown_);
      unknown_before = true;
    }
  }
}

/// Where each token from `first_id` on ends: its bytes are followed through the piece. A space or
/// mark that was put before a word is not there; bytes without a token are passed over.
void TokenEncoder::align(Job& job, const Piece& piece, std::size_t first_id) const {
  const auto text = piece.text;
  std::size_t at = 0;
  for (auto i = first_id; i < job.ids.size(); ++i) {
    for (const char byte : tokenizer_.bytes(job.ids[i])) {
      if (byte == ' ' && text.substr(at).starts_with(kSpaceMark)) {
        at += kSpaceMark.size();
      } else if (at < text.size() && text[at] == byte) {
        ++at;
      } else if (byte != ' ') {
        const auto found = text.substr(0, std::min(text.size(), at + 8)).find(byte, at);
        if (found != std::string_view::npos) at = found + 1;
      }
    }
    job.ends->push_back(piece.origin(at));
  }
}

}  // namespace ubique::io
