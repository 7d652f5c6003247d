// SPDX-License-Identifier: Apache-2.0
// Signatures of token shingles and the table of their bands.
#include "ubique/data/code/filter/near_duplicates.h"

#include <algorithm>
#include <limits>

namespace ubique::data {
namespace {

constexpr std::size_t kShingle = 5;        // tokens
constexpr std::size_t kFewestTokens = 64;  // shorter documents have no signature
constexpr int kMostPerBand = 32;           // documents that share one band and are compared

std::uint64_t mixed(std::uint64_t value) {  // the finaliser of SplitMix64
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31U);
}

}  // namespace

std::optional<MinHash> min_hash(std::span<const std::int32_t> ids) {
  if (ids.size() < kFewestTokens) return std::nullopt;
  constexpr auto kEmpty = std::numeric_limits<std::uint32_t>::max();
  std::array<std::uint32_t, kMinHashBins> least{};
  least.fill(kEmpty);
  // A polynomial over the last kShingle tokens, updated token by token.
  constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15ULL;
  std::uint64_t highest = 1;
  for (std::size_t i = 1; i < kShingle; ++i) highest *= kBase;
  std::uint64_t window = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i >= kShingle) window -= highest * static_cast<std::uint64_t>(ids[i - kShingle] + 1);
    window = window * kBase + static_cast<std::uint64_t>(ids[i] + 1);
    if (i + 1 < kShingle) continue;
    const auto hash = mixed(window);
    auto& bin = least[hash >> 57U];
    bin = std::min(bin, static_cast<std::uint32_t>(hash));
  }
  MinHash signature{};
  for (std::size_t i = 0; i < kMinHashBins; ++i) {
    std::size_t distance = 0;
    while (least[(i + distance) % kMinHashBins] == kEmpty && distance < kMinHashBins) ++distance;
    const auto value = least[(i + distance) % kMinHashBins];
    signature[i] = static_cast<std::uint16_t>(mixed(value + (distance << 32U)));
  }
  return signature;
}

double similarity(const MinHash& a, const MinHash& b) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < kMinHashBins; ++i) equal += a[i] == b[i] ? 1 : 0;
  return static_cast<double>(equal) / kMinHashBins;
}

SimilarityIndex::SimilarityIndex(double threshold)
    : threshold_(threshold),
      // A pair at the threshold shares a band with probability 0.9 or more.
      rows_(threshold >= 0.8   ? 8
            : threshold >= 0.5 ? 4
                               : 2),
      table_(1024) {}

/// The places of all keys begin to be loaded together: one after the other they would take most of
/// the time of a look-up.
SimilarityIndex::Keys SimilarityIndex::keys_of(const MinHash& hash) const {
  Keys keys{};
  for (std::size_t band = 0; band < bands(); ++band) {
    std::uint64_t key = band * rows_ + 1;
    for (std::size_t row = 0; row < rows_; ++row) {
      key = mixed(key ^ (hash[band * rows_ + row] + (key << 6U)));
    }
    keys[band] = key | 1U;  // a tag is never 0
    __builtin_prefetch(&table_[(key >> 32U) & (table_.size() - 1)]);
  }
  return keys;
}

std::vector<SimilarityIndex::Match> SimilarityIndex::find(const MinHash& hash) const {
  std::vector<std::uint32_t> candidates;
  const auto mask = table_.size() - 1;
  const auto keys = keys_of(hash);
  for (const auto key : std::span(keys).first(bands())) {
    int seen = 0;
    for (auto at = (key >> 32U) & mask; table_[at].tag != 0 && seen < kMostPerBand;
         at = (at + 1) & mask) {
      if (table_[at].tag != static_cast<std::uint32_t>(key)) continue;
      candidates.push_back(table_[at].document);
      ++seen;
    }
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  std::vector<Match> matches;
  for (const auto document : candidates) {
    const auto alike = similarity(hash, hashes_[document]);
    if (alike >= threshold_) matches.push_back({document, alike});
  }
  std::stable_sort(matches.begin(), matches.end(),
                   [](const Match& a, const Match& b) { return a.similarity > b.similarity; });
  return matches;
}

void SimilarityIndex::insert(std::uint64_t key, std::uint32_t document) {
  const auto mask = table_.size() - 1;
  int seen = 0;
  auto at = (key >> 32U) & mask;
  for (; table_[at].tag != 0; at = (at + 1) & mask) {
    if (table_[at].tag == static_cast<std::uint32_t>(key) && ++seen >= kMostPerBand) return;
  }
  table_[at] = {static_cast<std::uint32_t>(key), document};
  ++used_;
}

void SimilarityIndex::grow() {
  table_.assign(table_.size() * 2, {});
  used_ = 0;
  for (std::uint32_t i = 0; i < hashes_.size(); ++i) {
    const auto keys = keys_of(hashes_[i]);
    for (const auto key : std::span(keys).first(bands())) insert(key, i);
  }
}

std::uint32_t SimilarityIndex::add(const MinHash& hash) {
  const auto number = static_cast<std::uint32_t>(hashes_.size());
  hashes_.push_back(hash);
  const auto keys = keys_of(hash);
  for (const auto key : std::span(keys).first(bands())) insert(key, number);
  if (used_ * 2 > table_.size()) grow();
  return number;
}

}  // namespace ubique::data
