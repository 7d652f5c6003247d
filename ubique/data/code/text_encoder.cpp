// SPDX-License-Identifier: Apache-2.0
// A direct-mapped table of words in front of the tokenizer.
#include "ubique/data/code/text_encoder.h"

#include <algorithm>
#include <cstring>

namespace ubique::data {
namespace {

constexpr std::size_t kSlotBits = 16;

std::size_t word_slot(std::string_view word) {
  std::uint64_t hash = word.size() * 0x9E3779B97F4A7C15ULL;
  for (std::size_t at = 0; at < word.size(); at += 8) {
    std::uint64_t part = 0;
    std::memcpy(&part, word.data() + at, std::min<std::size_t>(8, word.size() - at));
    hash = (hash ^ part) * 0x9FB21C651E98DF25ULL;
    hash ^= hash >> 29U;
  }
  return hash >> (64U - kSlotBits);
}

/// Whether a word of the split, encoded alone, is split no further and gets the same tokens.
bool words_stand_alone(const io::TokenizerModel& model) {
  const bool added_text = std::any_of(model.added.begin(), model.added.end(),
                                      [](const auto& added) { return !added.special; });
  return !added_text && std::all_of(model.split.begin(), model.split.end(), [](io::SplitStep step) {
    return step == io::SplitStep::Words || step == io::SplitStep::EachNumber ||
           step == io::SplitStep::NumberRuns;
  });
}

}  // namespace

TextEncoder::TextEncoder(const io::Tokenizer& tokenizer)
    : tokenizer_(&tokenizer),
      cached_(words_stand_alone(tokenizer.model())),
      slots_(cached_ ? std::size_t{1} << kSlotBits : 0) {}

void TextEncoder::encode_word(std::string_view word, std::vector<std::int32_t>& out) {
  if (word.size() > kLongestWord) {
    const auto ids = tokenizer_->encode(word);
    out.insert(out.end(), ids.begin(), ids.end());
    return;
  }
  auto& slot = slots_[word_slot(word)];
  if (slot.length != word.size() || std::memcmp(slot.word.data(), word.data(), word.size()) != 0) {
    const auto ids = tokenizer_->encode(word);
    if (ids.size() > kMostTokens) {
      out.insert(out.end(), ids.begin(), ids.end());
      return;
    }
    slot.length = static_cast<std::uint8_t>(word.size());
    slot.count = static_cast<std::uint8_t>(ids.size());
    std::memcpy(slot.word.data(), word.data(), word.size());
    std::copy(ids.begin(), ids.end(), slot.ids.begin());
  }
  out.insert(out.end(), slot.ids.begin(), slot.ids.begin() + slot.count);
}

void TextEncoder::encode(std::string_view text, std::vector<std::int32_t>& out) {
  if (!cached_) {
    const auto ids = tokenizer_->encode(text);
    out.insert(out.end(), ids.begin(), ids.end());
    return;
  }
  io::split_words(text, tokenizer_->model().split,
                  [&](std::string_view word) { encode_word(word, out); });
}

std::vector<std::int32_t> TextEncoder::encode(std::string_view text) {
  std::vector<std::int32_t> ids;
  encode(text, ids);
  return ids;
}

}  // namespace ubique::data
