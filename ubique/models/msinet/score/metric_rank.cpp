// SPDX-License-Identifier: Apache-2.0
// A histogram over the range of the thresholds. Bins without a threshold are only counted; values
// in the other bins are compared one by one.
#include "ubique/models/msinet/score/metric_rank.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "ubique/models/msinet/score/metric_lanes.h"

namespace ubique::msinet {
namespace {

constexpr std::int32_t kRankBins = 2048;
constexpr std::int64_t kRankBlock = 1024;
constexpr std::size_t kCounters = 4;  // neighbouring values share bins: avoids serial increments

/// Bin number of a value: 0 below the lowest threshold, the last one above the highest.
template <typename T>
struct BinRule {
  T low, scale;

  BinRule(double lowest, double highest) : low(static_cast<T>(lowest)) {
    scale = static_cast<T>(kRankBins - 3) / (static_cast<T>(highest) - low);
    // One threshold, or a range too narrow or too wide for bins: all values in bin 1.
    if (!(scale > 0) || !std::isfinite(scale)) low = scale = 0;
  }
  UBIQUE_MAP_INLINE std::int32_t operator()(T value) const {
    T bin = (value - low) * scale + 1;
    bin = bin > 0 ? bin : 0;
    bin = bin < kRankBins - 1 ? bin : static_cast<T>(kRankBins - 1);
    return static_cast<std::int32_t>(bin);
  }
};

template <typename T>
struct RankPass {
  std::span<const T> values;
  std::span<const T> sorted;  // distinct thresholds
  BinRule<T> rule;
  std::array<std::int32_t, kRankBins + 1> first = {};  // thresholds in the bins before each
  std::array<std::uint8_t, kRankBins> shared = {};     // 1 where the bin holds a threshold
  std::array<std::array<std::uint32_t, kRankBins>, kCounters> counts = {};
  std::vector<std::int64_t> gaps, equals;  // values between thresholds, on thresholds

  RankPass(std::span<const T> values_, std::span<const T> sorted_)
      : values(values_), sorted(sorted_), rule(sorted_.front(), sorted_.back()) {
    gaps.resize(sorted.size() + 1);
    equals.resize(sorted.size());
    for (const T threshold : sorted) {
      const auto bin = static_cast<std::size_t>(rule(threshold));
      shared[bin] = 1;
      ++first[bin + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
  }

  UBIQUE_MAP_INLINE void operator()() {
    const auto count = static_cast<std::int64_t>(values.size());
    std::array<std::int32_t, kRankBlock> bins;
    std::array<T, kRankBlock> close;
    for (std::int64_t begin = 0; begin < count; begin += kRankBlock) {
      const auto length = std::min(kRankBlock, count - begin);
      const T* part = values.data() + begin;
      for (std::int64_t i = 0; i < length; ++i) bins[static_cast<std::size_t>(i)] = rule(part[i]);
      std::size_t found = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
        const auto bin = static_cast<std::size_t>(bins[i]);
        ++counts[i % kCounters][bin];
        close[found] = part[i];
        found += shared[bin];
      }
      for (std::size_t i = 0; i < found; ++i) compare(close[i]);
    }
  }

  void compare(T value) {
    const auto bin = static_cast<std::size_t>(rule(value));
    auto index = static_cast<std::size_t>(first[bin]);
    const auto end = static_cast<std::size_t>(first[bin + 1]);
    if (end - index > 8) {
      const auto from = sorted.begin() + static_cast<std::ptrdiff_t>(index);
      const auto to = sorted.begin() + static_cast<std::ptrdiff_t>(end);
      index = static_cast<std::size_t>(std::lower_bound(from, to, value) - sorted.begin());
    } else {
      while (index < end && sorted[index] < value) ++index;
    }
    ++(index < end && sorted[index] == value ? equals : gaps)[index];
  }

  void add_counted_bins() {
    for (std::size_t bin = 0; bin < kRankBins; ++bin) {
      if (shared[bin] != 0) continue;
      for (const auto& counter : counts) gaps[static_cast<std::size_t>(first[bin])] += counter[bin];
    }
  }
};

}  // namespace

template <typename T>
std::vector<Rank> ranks_among(std::span<const T> values, std::span<const double> thresholds) {
  if (thresholds.empty()) return {};
  std::vector<T> sorted;
  for (const double threshold : thresholds) sorted.push_back(static_cast<T>(threshold));
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());

  RankPass<T> pass(values, sorted);
  lanes::run(pass);
  pass.add_counted_bins();

  std::vector<Rank> by_threshold(sorted.size());
  std::int64_t below = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    below += pass.gaps[i];
    by_threshold[i] = {below, pass.equals[i]};
    below += pass.equals[i];
  }
  std::vector<Rank> ranks;
  for (const double threshold : thresholds) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), static_cast<T>(threshold));
    ranks.push_back(by_threshold[static_cast<std::size_t>(at - sorted.begin())]);
  }
  return ranks;
}

template std::vector<Rank> ranks_among(std::span<const float>, std::span<const double>);
template std::vector<Rank> ranks_among(std::span<const double>, std::span<const double>);

}  // namespace ubique::msinet
