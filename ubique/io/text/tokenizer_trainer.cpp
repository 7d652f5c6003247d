// SPDX-License-Identifier: Apache-2.0
// Counts pairs and merges the most frequent one, with a heap that is updated lazily.
#include "ubique/io/text/tokenizer_trainer.h"

#include <algorithm>
#include <array>
#include <map>

#include "ubique/base/error.h"
#include "ubique/io/text/tokenizer_bytes.h"

namespace ubique::io {
namespace {

/// Longer words (keys, base64 data) are split: each merge rereads all words that contain the pair,
/// so a word of a megabyte would be read thousands of times.
constexpr std::size_t kLongestWord = 256;

using TokenPair = std::pair<std::int32_t, std::int32_t>;

struct CountedWord {
  std::vector<std::int32_t> symbols;
  std::int64_t count = 0;
};

struct PairUse {
  std::int64_t count = 0;
  std::vector<std::int32_t>
      words;  // indices of words with the pair; may contain stale and repeated ones
};

struct QueuedPair {
  std::int64_t count;
  TokenPair pair;
  /// The top of the heap is the most frequent pair, among equals the lowest.
  bool operator<(const QueuedPair& other) const {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

struct PairHash {
  std::size_t operator()(const TokenPair& pair) const {
    const auto joined = static_cast<std::uint64_t>(static_cast<std::uint32_t>(pair.first)) << 32U |
                        static_cast<std::uint32_t>(pair.second);
    return static_cast<std::size_t>(joined * 0x9E3779B97F4A7C15ULL >> 16U);
  }
};

class PairMerger {
 public:
  PairMerger(TokenizerModel& model, const TrainerOptions& options)
      : model_(model), options_(options) {
    for (const auto& content : options.special) {
      model_.added.push_back({.id = next_id(), .content = content});
      add_token(content);
    }
    std::map<char32_t, unsigned char> order;  // bytes by the character that spells them
    for (unsigned byte = 0; byte < 256; ++byte) {
      order[visible_character(static_cast<unsigned char>(byte))] = static_cast<unsigned char>(byte);
    }
    for (const auto& [character, byte] : order) {
      byte_ids_[byte] = next_id();
      add_token(visible_bytes(std::string(1, static_cast<char>(byte))));
    }
  }

  void add_word(std::string_view word, std::int64_t count) {
    CountedWord counted{{}, count};
    for (const char byte : word) {
      counted.symbols.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
    }
    const auto index = static_cast<std::int32_t>(words_.size());
    for (std::size_t i = 0; i + 1 < counted.symbols.size(); ++i) {
      change({counted.symbols[i], counted.symbols[i + 1]}, count, index);
    }
    words_.push_back(std::move(counted));
  }

  void run() {
    for (const auto& [pair, use] : uses_) queue({use.count, pair});
    while (next_id() < options_.size && !heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end());
      const auto best = heap_.back();
      heap_.pop_back();
      const auto count = uses_[best.pair].count;
      if (count != best.count) {  // stale: other merges changed the count
        queue({count, best.pair});
        continue;
      }
      if (count < std::max<std::int64_t>(options_.min_count, 1)) break;
      merge(best.pair);
    }
  }

 private:
  std::int32_t next_id() const { return static_cast<std::int32_t>(model_.vocabulary.size()); }

  std::int32_t add_token(const std::string& spelling) {
    const auto [known, added] = ids_.emplace(spelling, next_id());
    if (added) model_.vocabulary.emplace_back(spelling, known->second);
    return known->second;
  }

  void queue(const QueuedPair& entry) {
    if (entry.count <= 0) return;
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end());
  }

  void change(const TokenPair& pair, std::int64_t count, std::int32_t word) {
    auto& use = uses_[pair];
    use.count += count;
    if (count > 0 && (use.words.empty() || use.words.back() != word)) use.words.push_back(word);
  }

  void merge(const TokenPair& pair) {
    const auto& left = model_.vocabulary[static_cast<std::size_t>(pair.first)].first;
    const auto& right = model_.vocabulary[static_cast<std::size_t>(pair.second)].first;
    model_.merges.emplace_back(left, right);
    const auto merged = add_token(left + right);
    const auto words = std::move(uses_[pair].words);
    uses_[pair].words.clear();
    touched_.clear();
    for (const auto index : words) merge_in(index, pair, merged);
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const auto& other : touched_) queue({uses_[other].count, other});
  }

  /// Replaces the pair in one word from left to right, and updates the counts of its neighbours.
  void merge_in(std::int32_t index, const TokenPair& pair, std::int32_t merged) {
    auto& word = words_[static_cast<std::size_t>(index)];
    auto& symbols = word.symbols;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < symbols.size();) {
      const bool here =
          i + 1 < symbols.size() && symbols[i] == pair.first && symbols[i + 1] == pair.second;
      if (!here) {
        symbols[kept++] = symbols[i++];
        continue;
      }
      change(pair, -word.count, index);
      if (kept > 0) replace({symbols[kept - 1], pair.first}, {symbols[kept - 1], merged}, index);
      if (i + 2 < symbols.size()) {
        replace({pair.second, symbols[i + 2]}, {merged, symbols[i + 2]}, index);
      }
      symbols[kept++] = merged;
      i += 2;
    }
    symbols.resize(kept);
  }

  void replace(const TokenPair& removed, const TokenPair& added, std::int32_t index) {
    const auto count = words_[static_cast<std::size_t>(index)].count;
    change(removed, -count, index);
    change(added, count, index);
    touched_.push_back(added);
  }

  TokenizerModel& model_;
  const TrainerOptions& options_;
  std::array<std::int32_t, 256> byte_ids_{};
  std::unordered_map<std::string, std::int32_t> ids_;
  std::vector<CountedWord> words_;
  std::unordered_map<TokenPair, PairUse, PairHash> uses_;
  std::vector<QueuedPair> heap_;
  std::vector<TokenPair> touched_;
};

}  // namespace

TokenizerTrainer::TokenizerTrainer(TrainerOptions options) : options_(std::move(options)) {
  const auto least = static_cast<std::int64_t>(options_.special.size()) + 256;
  check(options_.size >= least && options_.size <= 1'000'000, ErrorKind::Usage,
        "[io.tokenizer] a vocabulary of that size cannot be learnt; got {}, expected {} (the bytes "
        "and {} special tokens) to 1000000.",
        options_.size, least, options_.special.size());
}

void TokenizerTrainer::add(std::string_view text) {
  split_words(text, options_.split, [&](std::string_view word) {
    for (; word.size() > kLongestWord; word.remove_prefix(kLongestWord)) {
      ++words_[std::string(word.substr(0, kLongestWord))];
    }
    ++words_[std::string(word)];
  });
}

TokenizerModel TokenizerTrainer::train() const {
  TokenizerModel model;
  model.split = options_.split;
  PairMerger merger(model, options_);
  // The order does not affect the result; sorting makes memory and time reproducible too.
  std::vector<std::pair<std::string_view, std::int64_t>> words(words_.begin(), words_.end());
  std::sort(words.begin(), words.end());
  for (const auto& [word, count] : words) merger.add_word(word, count);
  merger.run();
  return model;
}

}  // namespace ubique::io
