// SPDX-License-Identifier: Apache-2.0
// The tokens of words seen before. Texts repeat their words, and merging is most of the work of
// encoding. Memory is bounded: when the cache is full, it starts again.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace ubique::io {

class WordCache {
 public:
  static constexpr std::size_t kLongestWord = 64;  // bytes; longer ones rarely come again

  /// nullptr data if the word is not there (a known word may have no tokens at all).
  std::span<const std::int32_t> find(std::string_view word, bool& known) const {
    known = false;
    if (slots_.empty()) return {};
    const auto hash = hash_of(word);
    for (std::size_t probe = 0; probe < kMostProbes; ++probe) {
      const auto& slot = slots_[(hash + probe) & (slots_.size() - 1)];
      if (slot.word_size == kFree) return {};
      if (slot.hash != hash || slot.word_size != word.size()) continue;
      if (std::memcmp(bytes_.data() + slot.word_at, word.data(), word.size()) != 0) continue;
      known = true;
      return std::span(ids_).subspan(slot.ids_at, slot.ids_size);
    }
    return {};
  }

  /// Does nothing for a long word, and where too many words have the same place.
  void add(std::string_view word, std::span<const std::int32_t> ids) {
    if (word.size() > kLongestWord) return;
    if (2 * (count_ + 1) > slots_.size()) grow();
    const auto hash = hash_of(word);
    auto* slot = free_slot(hash);
    if (slot == nullptr) return;
    *slot = {hash, static_cast<std::uint32_t>(bytes_.size()),
             static_cast<std::uint32_t>(ids_.size()), static_cast<std::uint16_t>(word.size()),
             static_cast<std::uint16_t>(ids.size())};
    bytes_.insert(bytes_.end(), word.begin(), word.end());
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    ++count_;
  }

 private:
  static constexpr std::size_t kMostProbes = 16, kFirstSlots = 256,
                               kMostSlots = std::size_t{1} << 17U;
  static constexpr std::uint16_t kFree = 0xFFFF;

  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t word_at = 0, ids_at = 0;
    std::uint16_t word_size = kFree, ids_size = 0;
  };

  static std::uint64_t hash_of(std::string_view word) {
    constexpr std::uint64_t kMultiplier = 0x9E37'79B9'7F4A'7C15ULL;
    std::uint64_t hash = word.size() * kMultiplier;
    while (!word.empty()) {
      std::uint64_t part = 0;
      const auto size = word.size() < 8 ? word.size() : 8;
      std::memcpy(&part, word.data(), size);
      hash = (hash ^ part) * kMultiplier;
      hash ^= hash >> 29U;
      word.remove_prefix(size);
    }
    return hash;
  }

  Slot* free_slot(std::uint64_t hash) {
    for (std::size_t probe = 0; probe < kMostProbes; ++probe) {
      auto& slot = slots_[(hash + probe) & (slots_.size() - 1)];
      if (slot.word_size == kFree) return &slot;
    }
    return nullptr;
  }

  void grow() {
    std::vector<Slot> old;
    old.swap(slots_);
    if (old.size() == kMostSlots) {
      bytes_.clear();
      ids_.clear();
      old.clear();
    }
    count_ = 0;
    slots_.resize(old.empty() ? kFirstSlots : 2 * old.size());
    for (const auto& slot : old) {
      if (slot.word_size == kFree) continue;
      if (auto* place = free_slot(slot.hash)) {
        *place = slot;
        ++count_;
      }
    }
  }

  std::vector<Slot> slots_;  // a power of two
  std::vector<char> bytes_;
  std::vector<std::int32_t> ids_;
  std::size_t count_ = 0;
};

}  // namespace ubique::io
