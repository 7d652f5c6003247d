// SPDX-License-Identifier: Apache-2.0
// A direct-mapped table of words in front of the tokenizer.
#include "ubique/data/code/text_encoder.h"

#include <algorithm>
#include <cstring>

namespace ubique::data {
namespace {

constexpr std::size_t kSlotBits = 16;

/// The bytes there as a number.
template <typename Number>
std::uint64_t number_at(const char* from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

using WordBytes = std::array<std::uint64_t, 4>;

/// Loads of fixed sizes that may overlap: much faster than a copy of a size known at run time.
WordBytes bytes_of(std::string_view word) {
  const auto* begin = word.data();
  const auto* end = begin + word.size();
  if (word.size() > 16) {
    return {number_at<std::uint64_t>(begin), number_at<std::uint64_t>(begin + 8),
            number_at<std::uint64_t>(end - 16), number_at<std::uint64_t>(end - 8)};
  }
  if (word.size() >= 8) {
    return {number_at<std::uint64_t>(begin), number_at<std::uint64_t>(end - 8), 0, 0};
  }
  if (word.size() >= 4) {
    return {number_at<std::uint32_t>(begin), number_at<std::uint32_t>(end - 4), 0, 0};
  }
  const auto byte = [&](std::size_t at) { return number_at<std::uint8_t>(begin + at); };
  return {byte(0), byte(word.size() / 2), byte(word.size() - 1), 0};
}

std::size_t slot_of(const WordBytes& bytes, std::size_t length) {
  std::uint64_t hash = length * 0x9E37'79B9'7F4A'7C15ULL;
  for (const auto part : bytes) {
    hash = (hash ^ part) * 0x9FB2'1C65'1E98'DF25ULL;
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
      encoder_(tokenizer),
      by_words_(words_stand_alone(tokenizer.model())),
      slots_(by_words_ ? std::size_t{1} << kSlotBits : 0) {}

void TextEncoder::encode_word(std::string_view word, std::vector<std::int32_t>& out) {
  if (word.size() > kLongestWord) {
    const auto ids = encoder_.encode(word);
    out.insert(out.end(), ids.begin(), ids.end());
    return;
  }
  const auto bytes = bytes_of(word);
  auto& slot = slots_[slot_of(bytes, word.size())];
  if (slot.length != word.size() || slot.bytes != bytes) {
    const auto ids = encoder_.encode(word);
    if (ids.size() > kMostTokens) {
      out.insert(out.end(), ids.begin(), ids.end());
      return;
    }
    slot.bytes = bytes;
    slot.length = static_cast<std::uint8_t>(word.size());
    slot.count = static_cast<std::uint8_t>(ids.size());
    std::copy(ids.begin(), ids.end(), slot.ids.begin());
  }
  for (std::size_t i = 0; i < slot.count; ++i) out.push_back(slot.ids[i]);
}

void TextEncoder::encode(std::string_view text, std::vector<std::int32_t>& out) {
  if (!by_words_) {
    const auto ids = encoder_.encode(text);
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
