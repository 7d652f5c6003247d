// SPDX-License-Identifier: Apache-2.0
// Ranges, exact quantiles by radix histograms, and scaling.
#include "ubique/data/scans/conform/normalize.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <mutex>
#include <numeric>
#include <span>

#include "ubique/base/error.h"
#include "ubique/base/parallel.h"
#include "ubique/base/text/names.h"

namespace ubique::data {
namespace {

constexpr NameTable<Normalization, 4> kNormalizations{{{Normalization::MinMax, "min_max"},
                                                       {Normalization::Quantile, "quantile"},
                                                       {Normalization::ZScore, "z_score"},
                                                       {Normalization::None, "none"}}};
constexpr float kFlat = 1e-8F;  // a smaller range counts as flat
constexpr std::size_t kHalfWord = 1U << 16U;

using Histogram = std::vector<std::int64_t>;

struct Range {
  float low, high;
};

/// Eight running minima and maxima, so that the loop vectorises.
Range range_in(std::span<const float> values) {
  constexpr std::size_t kLanes = 8;
  std::array<float, kLanes> low, high;
  low.fill(values.front());
  high.fill(values.front());
  const std::size_t whole = values.size() / kLanes * kLanes;
  const auto add = [&](std::size_t lane, float value) {
    low[lane] = value < low[lane] ? value : low[lane];
    high[lane] = value > high[lane] ? value : high[lane];
  };
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(lane, values[i + lane]);
  }
  for (std::size_t i = whole; i < values.size(); ++i) add(0, values[i]);
  return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
}

Range range_of(const std::vector<float>& values, int threads) {
  constexpr std::int64_t kWorthAThread = 1 << 20;
  Range range{values.front(), values.front()};
  std::mutex mutex;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    const auto part = range_in({values.data() + begin, values.data() + end});
    const std::scoped_lock lock(mutex);
    range = {std::min(range.low, part.low), std::max(range.high, part.high)};
  };
  parallel_for(static_cast<std::int64_t>(values.size()), threads, add, kWorthAThread);
  return range;
}

/// (value - low) / range for every value, or zeros for a flat volume.
void rescale(std::vector<float>& values, float low, float range, int threads) {
  const auto count = static_cast<std::int64_t>(values.size());
  const bool flat = !(range >= kFlat);
  parallel_for(count, threads, [&](std::int64_t begin, std::int64_t end) {
    float* data = values.data();
    if (flat)
      std::fill(data + begin, data + end, 0.0F);
    else {
      for (auto i = begin; i < end; ++i) data[i] = (data[i] - low) / range;
    }
  });
}

/// Bits whose order as unsigned numbers is that of the values.
std::uint32_t ordered_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value == 0 ? 0.0F : value);
  return (bits >> 31U) != 0 ? ~bits : bits | 0x80000000U;
}

float value_of_bits(std::uint32_t bits) {
  return std::bit_cast<float>((bits >> 31U) != 0 ? bits & 0x7FFFFFFFU : ~bits);
}

struct BinRank {
  std::size_t bin;
  std::int64_t rank;  // within the bin
};

BinRank find_rank(const Histogram& bins, std::int64_t rank) {
  std::size_t bin = 0;
  while (rank >= bins[bin]) rank -= bins[bin++];
  return {bin, rank};
}

/// The value at `rank` of the sorted values (radix select): a histogram of the upper 16 bits finds
/// the bin, one of the lower 16 bits the value in it. Two passes, no copy.
float value_at_rank(const std::vector<float>& values, const Histogram& upper, std::int64_t rank) {
  const auto bin = find_rank(upper, rank);
  Histogram lower(kHalfWord);
  for (const float value : values) {
    const auto bits = ordered_bits(value);
    if (bits >> 16U == bin.bin) ++lower[bits & 0xFFFFU];
  }
  const auto within = find_rank(lower, bin.rank);
  return value_of_bits(static_cast<std::uint32_t>(bin.bin << 16U | within.bin));
}

Range quantiles_of(const std::vector<float>& values, double low, double high) {
  check(low >= 0 && low < high && high <= 1, ErrorKind::Usage,
        "[data.normalize] impossible quantiles; got {} and {}, expected 0 <= low < high <= 1.", low,
        high);
  Histogram upper(kHalfWord);
  for (const float value : values) ++upper[ordered_bits(value) >> 16U];
  const double count = static_cast<double>(values.size());
  const auto last = static_cast<std::int64_t>(values.size()) - 1;
  const auto first_rank = std::min(last, static_cast<std::int64_t>(std::floor(low * count)));
  const auto last_rank =
      std::max(std::int64_t{0}, static_cast<std::int64_t>(std::ceil(high * count)) - 1);
  return {value_at_rank(values, upper, first_rank), value_at_rank(values, upper, last_rank)};
}

void normalize_quantile(std::vector<float>& values, double low, double high, int threads) {
  const auto bounds = quantiles_of(values, low, high);
  const auto whole = range_of(values, threads);
  check(bounds.high - bounds.low >= kFlat || whole.high - whole.low < kFlat, ErrorKind::Input,
        "[data.normalize] the scan is nearly all of one value; got {} at the quantiles {} and {}, "
        "but values from {} to {}, expected two different quantiles. Crop the background, or use "
        "min_max.",
        bounds.low, low, high, whole.low, whole.high);
  rescale(values, bounds.low, bounds.high - bounds.low, threads);
}

void normalize_z_score(std::vector<float>& values, int threads) {
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const float value : values) squares += (value - mean) * (value - mean);
  rescale(values, static_cast<float>(mean), static_cast<float>(std::sqrt(squares / count)),
          threads);
}

}  // namespace

std::string_view to_string(Normalization normalization) {
  return name_of(kNormalizations, normalization);
}

Normalization parse_normalization(std::string_view text) {
  return parse_name(kNormalizations, "data.conform", "normalization", text);
}

void normalize(Volume& volume, Normalization how, double low, double high, int threads) {
  auto& values = volume.values;
  if (values.empty() || how == Normalization::None) return;
  if (how == Normalization::Quantile) return normalize_quantile(values, low, high, threads);
  if (how == Normalization::ZScore) return normalize_z_score(values, threads);
  const auto range = range_of(values, threads);
  rescale(values, range.low, range.high - range.low, threads);
}

}  // namespace ubique::data
