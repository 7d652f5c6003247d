// SPDX-License-Identifier: Apache-2.0
// Summaries, quantiles, Wilcoxon and Holm. Expected values are from NumPy 2.4.6 and SciPy 1.17.1.
#include <doctest/doctest.h>

#include <limits>

#include "tests/base/scratch.h"
#include "ubique/models/meshnet/score/statistics.h"

using namespace ubique;
using doctest::Approx;

namespace {

using Values = std::vector<double>;

/// n numbers without ties, the inputs of the expected values.
Values pattern(int n, int factor, int offset, int modulus) {
  Values values;
  for (int i = 0; i < n; ++i) {
    values.push_back(static_cast<double>((i * factor + offset) % modulus) / modulus);
  }
  return values;
}

void check_wilcoxon(const Values& a, const Values& b, double statistic, double p, bool exact) {
  const auto result = meshnet::wilcoxon(a, b);
  CHECK(result.statistic == statistic);
  CHECK(result.p == Approx(p).epsilon(1e-12));
  CHECK(result.exact == exact);
  const auto turned = meshnet::wilcoxon(b, a);
  CHECK(turned.p == Approx(p).epsilon(1e-12));
}

}  // namespace

TEST_CASE("statistics: a summary is NumPy's") {
  const auto summary = meshnet::summarize(Values{3.5, -1.25, 8, 0.5, 2, 7.75, 4, 9.5, 1});
  CHECK(summary.count == 9);
  CHECK(summary.mean == Approx(3.888888888888889).epsilon(1e-15));
  CHECK(summary.std == Approx(3.547516954604992).epsilon(1e-15));
  CHECK(summary.median == 3.5);
  CHECK(summary.lower == 1);
  CHECK(summary.upper == 7.75);
  CHECK(summary.iqr() == 6.75);
  CHECK(summary.min == -1.25);
  CHECK(summary.max == 9.5);
}

TEST_CASE("statistics: quantiles between values are NumPy's to the last bit") {
  const Values values = {.1, .7, .3, .2};
  CHECK(meshnet::quantile(values, 0.25) == 0.17500000000000002);
  CHECK(meshnet::quantile(values, 0.5) == 0.25);
  CHECK(meshnet::quantile(values, 0.75) == 0.39999999999999997);
  CHECK(meshnet::quantile(values, 0) == 0.1);
  CHECK(meshnet::quantile(values, 1) == 0.7);
  CHECK(meshnet::quantile(Values{5}, 0.3) == 5);
}

TEST_CASE("statistics: infinite scores do not spoil the quartiles") {
  const double infinite = std::numeric_limits<double>::infinity();
  const auto summary = meshnet::summarize(Values{1, 2, 3, infinite, infinite});
  CHECK(summary.median == 3);
  CHECK(summary.upper == infinite);
}

TEST_CASE("statistics: small samples get the exact Wilcoxon test") {
  check_wilcoxon({.81, .62, .74, .55, .9, .33, .71, .68, .49, .77},
                 {.7, .65, .6, .5, .93, .2, .6, .59, .41, .58}, 3, 0.009765625, true);
  check_wilcoxon({1.5}, {1}, 0, 1, true);
  check_wilcoxon(pattern(50, 37, 0, 101), pattern(50, 53, 7, 103), 599, 0.7160933233749613, true);
}

TEST_CASE("statistics: up to 13 pairs with ties and zeros are exact too") {
  check_wilcoxon({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {0, 3, 3, 2, 7, 5, 4, 8, 6, 12, 10, 9},
                 14.5, 0.212890625, true);
}

TEST_CASE("statistics: larger samples get the normal approximation, ties accounted for") {
  check_wilcoxon(pattern(60, 37, 0, 101), pattern(60, 53, 7, 103), 905, 0.9413159156405683, false);
  Values a, b;
  for (int i = 0; i < 20; ++i) {
    a.push_back(i % 7);
    b.push_back(i * 3 % 5);
  }
  check_wilcoxon(a, b, 42, 0.09930372128434721, false);
}

TEST_CASE("statistics: equal lists give p = 1") {
  const Values same(30, 0.5);
  const auto result = meshnet::wilcoxon(same, same);
  CHECK(result.p == 1);
  CHECK(result.statistic == 0);
}

TEST_CASE("statistics: invalid pairs are refused") {
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(test::contains(test::refusal_of(ErrorKind::Usage,
                                        [] {
                                          meshnet::wilcoxon(Values{1, 2}, Values{1});
                                        }),
                       "got 2 and 1 values"));
  CHECK(
      test::contains(test::refusal_of(ErrorKind::Input,
                                      [&] {
                                        meshnet::wilcoxon(Values{1, infinite}, Values{2, infinite});
                                      }),
                     "pair 1 has no difference"));
  CHECK(test::contains(test::refusal_of(ErrorKind::Usage, [] { meshnet::summarize({}); }),
                       "no values"));
}

TEST_CASE("statistics: Holm's correction steps down in order of p") {
  const auto corrected = meshnet::holm(Values{.01, .04, .03, .005, .5});
  const Values expected = {.04, .09, .09, .025, .5};
  REQUIRE(corrected.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(corrected[i] == Approx(expected[i]).epsilon(1e-14));
  }
  CHECK(meshnet::holm(Values{.6, .7}) == Values{1, 1});
  CHECK(meshnet::holm({}).empty());
  CHECK(test::contains(test::refusal_of(ErrorKind::Usage, [] { meshnet::holm(Values{1.5}); }),
                       "p value 1.5"));
}
