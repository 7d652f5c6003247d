// SPDX-License-Identifier: Apache-2.0
// Quantiles, the exact and normal distributions of signed ranks, Holm's correction.
#include "ubique/models/meshnet/score/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ubique/base/error.h"
#include "ubique/base/numbers/normal.h"

namespace ubique::meshnet {
namespace {

constexpr std::size_t kMostExact = 50, kMostExactWithTies = 13;

std::vector<double> sorted_copy(std::span<const double> values) {
  check(!values.empty(), ErrorKind::Usage,
        "[engine.statistics] no values; expected at least one to summarize.");
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return sorted;
}

double quantile_of_sorted(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const double low = sorted[below], high = sorted[std::min(below + 1, sorted.size() - 1)];
  const double rest = position - static_cast<double>(below);
  if (rest == 0 || low == high) return low;  // high may be infinite
  // Interpolates from the nearer end, as NumPy does: exact at both ends.
  return rest < 0.5 ? low + (high - low) * rest : high - (high - low) * (1 - rest);
}

/// Signs and ranks of the non-zero differences. Ranks are doubled, because ties share their mean
/// rank, which may be a half.
struct SignedRanks {
  std::vector<std::int64_t> doubled;  // ascending by size of the difference
  std::vector<bool> positive;
  double tie_sum = 0;  // of t^3 - t over groups of t equal sizes
  bool has_ties = false;
  bool has_zeros = false;

  std::int64_t doubled_sum(bool sign) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < doubled.size(); ++i) sum += positive[i] == sign ? doubled[i] : 0;
    return sum;
  }
};

SignedRanks ranked(std::vector<double> differences) {
  SignedRanks ranks;
  const auto total = differences.size();
  std::erase(differences, 0.0);
  ranks.has_zeros = differences.size() < total;
  std::ranges::sort(differences, {}, [](double d) { return std::fabs(d); });
  for (std::size_t begin = 0; begin < differences.size();) {
    auto end = begin;
    while (end < differences.size() && std::fabs(differences[end]) == std::fabs(differences[begin]))
      ++end;
    // Ranks begin + 1 to end; twice their mean is their first plus their last.
    ranks.doubled.insert(ranks.doubled.end(), end - begin,
                         static_cast<std::int64_t>(begin + 1 + end));
    const auto tied = static_cast<double>(end - begin);
    ranks.tie_sum += tied * tied * tied - tied;
    ranks.has_ties = ranks.has_ties || end - begin > 1;
    begin = end;
  }
  for (const double d : differences) ranks.positive.push_back(d > 0);
  return ranks;
}

/// Probabilities of twice the sum of positive ranks, if each rank is positive with probability 1/2.
std::vector<double> exact_distribution(const SignedRanks& ranks) {
  std::vector<double> probability = {1};
  for (const auto rank : ranks.doubled) {
    std::vector<double> next(probability.size() + static_cast<std::size_t>(rank), 0.0);
    for (std::size_t sum = 0; sum < probability.size(); ++sum) {
      next[sum] += 0.5 * probability[sum];
      next[sum + static_cast<std::size_t>(rank)] += 0.5 * probability[sum];
    }
    probability = std::move(next);
  }
  return probability;
}

double exact_p(const SignedRanks& ranks) {
  const auto probability = exact_distribution(ranks);
  const auto smaller = std::min(ranks.doubled_sum(true), ranks.doubled_sum(false));
  const double tail = std::accumulate(
      probability.begin(), probability.begin() + static_cast<std::ptrdiff_t>(smaller) + 1,
      0.0);  // the distribution is symmetric
  return std::min(1.0, 2 * tail);
}

double normal_p(const SignedRanks& ranks) {
  const auto n = static_cast<double>(ranks.doubled.size());
  const double sum = static_cast<double>(ranks.doubled_sum(true)) / 2;
  const double mean = n * (n + 1) * 0.25;
  const double deviation = std::sqrt((n * (n + 1) * (2 * n + 1) - ranks.tie_sum / 2) / 24);
  return std::min(1.0, 2 * normal_cdf(-std::fabs((sum - mean) / deviation)));
}

}  // namespace

Summary summarize(std::span<const double> values) {
  const auto sorted = sorted_copy(values);
  Summary summary;
  summary.count = static_cast<std::int64_t>(sorted.size());
  const auto n = static_cast<double>(sorted.size());
  summary.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  summary.std = std::sqrt(squares / n);
  summary.median = quantile_of_sorted(sorted, 0.5);
  summary.lower = quantile_of_sorted(sorted, 0.25);
  summary.upper = quantile_of_sorted(sorted, 0.75);
  summary.min = sorted.front();
  summary.max = sorted.back();
  return summary;
}

double quantile(std::span<const double> values, double share) {
  check(share >= 0 && share <= 1, ErrorKind::Usage,
        "[engine.statistics] got the share {}, expected 0 to 1.", share);
  return quantile_of_sorted(sorted_copy(values), share);
}

Wilcoxon wilcoxon(std::span<const double> a, std::span<const double> b) {
  check(a.size() == b.size() && !a.empty(), ErrorKind::Usage,
        "[engine.statistics] a paired test needs pairs; got {} and {} values.", a.size(), b.size());
  std::vector<double> differences(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    differences[i] = a[i] - b[i];
    check(!std::isnan(differences[i]), ErrorKind::Input,
          "[engine.statistics] pair {} has no difference; got {} and {}, expected numbers. Leave "
          "such subjects out of both lists.",
          i, a[i], b[i]);
  }
  const auto ranks = ranked(std::move(differences));
  Wilcoxon result;
  if (ranks.doubled.empty()) return result;
  const auto smaller = std::min(ranks.doubled_sum(true), ranks.doubled_sum(false));
  result.statistic = static_cast<double>(smaller) / 2;
  const auto most = ranks.has_ties || ranks.has_zeros ? kMostExactWithTies : kMostExact;
  result.exact = a.size() <= most;
  result.p = result.exact ? exact_p(ranks) : normal_p(ranks);
  return result;
}

std::vector<double> holm(std::span<const double> p) {
  for (const double value : p) {
    check(value >= 0 && value <= 1, ErrorKind::Usage,
          "[engine.statistics] got the p value {}, expected 0 to 1.", value);
  }
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> corrected(p.size());
  double least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    least = std::max(least, p[order[i]] * static_cast<double>(p.size() - i));
    corrected[order[i]] = std::min(1.0, least);
  }
  return corrected;
}

}  // namespace ubique::meshnet
