// SPDX-License-Identifier: Apache-2.0
// The statistics of an experiment: summaries as NumPy computes them, the paired Wilcoxon test as
// SciPy does by default, Holm's correction. Plain numbers, no tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ubique::meshnet {

struct Summary {
  std::int64_t count = 0;
  double mean = 0;
  double std = 0;  ///< of the population: divided by n
  double median = 0;
  double lower = 0, upper = 0;  ///< quartiles
  double min = 0, max = 0;

  double iqr() const { return upper - lower; }
};

/// Usage error for no values at all.
Summary summarize(std::span<const double> values);

/// As numpy.percentile(values, 100 * share): linear between the two nearest. 0 <= share <= 1.
double quantile(std::span<const double> values, double share);

struct Wilcoxon {
  double statistic = 0;  ///< the smaller of the two sums of ranks
  double p = 1;          ///< two-sided
  bool exact = true;     ///< from the exact distribution; else the normal approximation
};

/// Signed-rank test of paired values. Pairs with zero difference are left out. Exact for up to 50
/// pairs without ties and zeros, and for up to 13 with them; otherwise the normal approximation
/// with ties accounted for and no continuity correction: scipy.stats.wilcoxon's defaults. If no
/// pair differs, p is 1. Usage error for empty lists or lists of different length, Input error for
/// a difference that is NaN.
Wilcoxon wilcoxon(std::span<const double> a, std::span<const double> b);

/// Holm's step-down correction; the result is in the order given. Usage error for values outside 0
/// to 1.
std::vector<double> holm(std::span<const double> p);

}  // namespace ubique::meshnet
