// SPDX-License-Identifier: Apache-2.0
// The tokens of words or lines seen before. Texts repeat them, and merging is most of the work of
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
  struct Limits {
    std::size_t longest = 64;                   ///< bytes; longer ones rarely come again
    std::size_t slots = std::size_t{1} << 17U;  ///< a power of two; half of them are filled
  };
  WordCache() = default;
  explicit WordCache(const Limits& limits) : limits_(limits) {}

  struct Key {
    std::string_view word;
    std::uint64_t hash = 0;
  };
  /// Of a word, whose place begins to be loaded from memory: time passes until it is there.
  Key key(std::string_view word) const {
    const auto hash = hash_of(word);
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
    return {word, hash};
  }

  /// nullptr data if the word is not there (a known word may have no tokens at all).
  std::span<const std::int32_t> find(const Key& key, bool& known) const {
    known = false;
    const auto [word, hash] = key;
    if (slots_.empty() || word.size() > limits_.longest) return {};
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
  void add(const Key& key, std::span<const std::int32_t> ids) {
    const auto [word, hash] = key;
    if (word.size() > limits_.longest) return;
    if (2 * (count_ + 1) > slots_.size()) grow();
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
  static constexpr std::size_t kMostProbes = 16, kFirstSlots = 256;
  static constexpr std::uint16_t kFree = 0xFFFF;

  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t word_at = 0, ids_at = 0;
    std::uint16_t word_size = kFree, ids_size = 0;
  };

  static std::uint64_t hash_of(std::string_view word) {
    constexpr std::uint64_t kMultiplier = 0x9E37'79B9'7F4A'7C15ULL;
    std::uint64_t hash = word.size() * kMultiplier;
    const auto mix = [&](std::uint64_t part) {
      hash = (hash ^ part) * kMultiplier;
      hash ^= hash >> 29U;
    };
    for (; word.size() >= 8; word.remove_prefix(8)) {
      std::uint64_t part = 0;
      std::memcpy(&part, word.data(), 8);
      mix(part);
    }
    std::uint64_t rest = 0;  // a copy of a size known at run time would be slower
    for (const char byte : word) rest = rest << 8U | static_cast<unsigned char>(byte);
    if (!word.empty()) mix(rest);
    hash *= kMultiplier;
    return hash ^ hash >> 32U;  // the low bits choose the place
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
    if (old.size() == limits_.slots) {
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

  Limits limits_;
  std::vector<Slot> slots_;
  std::vector<char> bytes_;
  std::vector<std::int32_t> ids_;
  std::size_t count_ = 0;
};

}  // namespace ubique::io
