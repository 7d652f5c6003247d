// SPDX-License-Identifier: Apache-2.0
// The normal distribution and its inverse against tables and the C library.
#include "ubique/base/numbers/normal.h"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

using namespace ubique;

TEST_CASE("normal: quantiles are those of the tables, and exactly odd") {
  CHECK(normal_quantile(0.5) == 0);
  CHECK(normal_quantile(0.975) == doctest::Approx(1.959963984540054).epsilon(1e-15));
  CHECK(normal_quantile(0.99) == doctest::Approx(2.3263478740408408).epsilon(1e-15));
  CHECK(normal_quantile(1e-10) == doctest::Approx(-6.361340902404056).epsilon(1e-15));
  CHECK(normal_quantile(1e-300) == doctest::Approx(-37.0470962993611992).epsilon(1e-15));
  for (const double p : {0.25, 0.03125, 0x1p-20}) {
    CHECK(normal_quantile(p) == -normal_quantile(1 - p));
  }
  CHECK(std::isinf(normal_quantile(0)));
  CHECK(std::isinf(normal_quantile(1)));
}

TEST_CASE("normal: the distribution function agrees with the C library's error function") {
  for (double x = -37; x <= 9; x += 0.0625) {
    const double expected = 0.5 * std::erfc(-x / std::sqrt(2.0));
    CAPTURE(x);
    // The argument of erfc is itself rounded, which its steepness magnifies by x^2.
    CHECK(std::abs(normal_cdf(x) / expected - 1) < 1e-14 + 4e-16 * x * x);
  }
  CHECK(normal_cdf(0) == 0.5);
  CHECK(normal_cdf(-INFINITY) == 0);
  CHECK(normal_cdf(INFINITY) == 1);
}

TEST_CASE("normal: the quantile is the inverse of the distribution function") {
  for (double x = -30; x <= 5; x += 0.125) {
    CAPTURE(x);
    CHECK(normal_quantile(normal_cdf(x)) == doctest::Approx(x).epsilon(1e-9));
  }
}
