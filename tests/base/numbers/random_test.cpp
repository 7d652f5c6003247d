// SPDX-License-Identifier: Apache-2.0
// Random: known answers, frozen streams, and the statistics of each distribution.
#include "ubique/base/numbers/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "tests/base/scratch.h"

using namespace ubique;

namespace {

struct Moments {
  double mean = 0, variance = 0, skewness = 0, kurtosis = 0;
};

Moments moments_of(int count, const std::function<double(std::uint64_t)>& value) {
  double sums[5] = {};
  for (int i = 0; i < count; ++i) {
    const double x = value(static_cast<std::uint64_t>(i));
    double power = 1;
    for (double& sum : sums) {
      sum += power;
      power *= x;
    }
  }
  const double m = sums[1] / count, m2 = sums[2] / count, m3 = sums[3] / count,
               m4 = sums[4] / count;
  const double variance = m2 - m * m;
  return {m, variance, (m3 - 3 * m * m2 + 2 * m * m * m) / std::pow(variance, 1.5),
          (m4 - 4 * m * m3 + 6 * m * m * m2 - 3 * m * m * m * m) / (variance * variance)};
}

double share_where(int count, const std::function<bool(std::uint64_t)>& holds) {
  int hits = 0;
  for (int i = 0; i < count; ++i) hits += holds(static_cast<std::uint64_t>(i)) ? 1 : 0;
  return static_cast<double>(hits) / count;
}

constexpr int kMany = 200'000;

}  // namespace

TEST_CASE("random: Philox gives the published known answers") {
  using Block = std::array<std::uint32_t, 4>;
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random: seed, stream and index are the key and the counter") {
  CHECK(Random(0, 0).bits(0) == 0x6627e8d5);
  CHECK(Random(~0ULL, ~0ULL).bits(~0ULL) == 0x408f276d);
  CHECK(Random(0x299f31d0a4093822, 0x0370734413198a2e).bits(0x85a308d3243f6a88) == 0xd16cfe09);
}

TEST_CASE("random: the streams are frozen to the bit") {
  const Random random(42, 7);
  CHECK(random.bits(0) == 0x67ee6f2c);
  CHECK(random.bits(3) == 0x945bcada);
  CHECK(random.uniform(0) == 0x1.caa82198cfdcdp-1);
  CHECK(random.uniform(1ULL << 40) == 0x1.2121bba15391cp-1);
  CHECK(random.normal(0) == 0x1.420fdd4ad2614p+0);
  CHECK(random.normal(1) == -0x1.45a7298f28dbfp-2);
  CHECK(random.normal(2) == 0x1.88c18ca413acfp+0);
  CHECK(random.truncated_normal(0, -2, 2) == 0x1.2a01319c19accp+0);
  CHECK(random.truncated_normal(1, 5, 6) == 0x1.4bd238b2217b4p+2);
  CHECK(random.below(0, 1000) == 895);
  CHECK(random.below(5, 1000) == 916);
  CHECK(random.below(1, (1ULL << 63) + 1) == 1605370663049559160);
  CHECK(random.permutation(10) == std::vector<std::int64_t>{6, 7, 8, 1, 9, 5, 3, 4, 2, 0});
  CHECK(random.fork(3).seed() == 0x624ba8a591e94555);
  CHECK(random.fork(3).stream() == 0xf711c81297aff497);
}

TEST_CASE("random: two million normal values are frozen to the bit") {
  const Random random(42, 7);
  std::uint64_t hash = 0;
  for (std::uint64_t i = 0; i < 2'000'000; ++i) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(random.normal(i))) * 0x100000001b3;
  }
  CHECK(hash == 0xe941537946f169e);
}

TEST_CASE("random: uniform values fill [0, 1) evenly") {
  const Random random(1);
  const auto moments = moments_of(kMany, [&](auto i) { return random.uniform(i); });
  CHECK(std::abs(moments.mean - 0.5) < 0.003);
  CHECK(std::abs(moments.variance - 1.0 / 12) < 0.001);
  CHECK(std::abs(moments.kurtosis - 1.8) < 0.01);
  for (const double q : {0.001, 0.1, 0.5, 0.9, 0.999}) {
    CHECK(std::abs(share_where(kMany, [&](auto i) { return random.uniform(i) < q; }) - q) < 0.005);
  }
  CHECK(share_where(kMany, [&](auto i) {
          const double u = random.uniform(i);
          return u >= 0 && u < 1;
        }) == 1);
}

TEST_CASE("random: normal values have the moments and tails of the normal distribution") {
  const Random random(2);
  const auto moments = moments_of(kMany, [&](auto i) { return random.normal(i); });
  CHECK(std::abs(moments.mean) < 0.01);
  CHECK(std::abs(moments.variance - 1) < 0.015);
  CHECK(std::abs(moments.skewness) < 0.025);
  CHECK(std::abs(moments.kurtosis - 3) < 0.05);
  const auto below = [&](double x) {
    return share_where(kMany, [&](auto i) { return random.normal(i) < x; });
  };
  CHECK(std::abs(below(-1) - 0.158655) < 0.004);
  CHECK(std::abs(below(1.959964) - 0.975) < 0.002);
  CHECK(std::abs(below(-3) - 0.00135) < 0.0005);
}

TEST_CASE("random: truncated normal values keep to their bounds and shape") {
  const Random random(3);
  const auto moments = moments_of(kMany, [&](auto i) { return random.truncated_normal(i, -1, 2); });
  CHECK(std::abs(moments.mean - 0.229637) < 0.01);
  CHECK(std::abs(moments.variance - 0.521) < 0.01);
  const double infinity = std::numeric_limits<double>::infinity();
  const std::pair<double, double> bounds[] = {{-2, 2}, {5, 6},         {-40, -30}, {1, infinity},
                                              {3, 3},  {-infinity, 0}, {50, 60},   {-60, -50}};
  for (const auto& [low, high] : bounds) {
    CAPTURE(low);
    CAPTURE(high);
    const double inside = share_where(2000, [&, low = low, high = high](auto i) {
      const double x = random.truncated_normal(i, low, high);
      return x >= low && x <= high && std::isfinite(x);
    });
    CHECK(inside == 1);
  }
  // In the far tail the values concentrate at the inner bound.
  CHECK(random.truncated_normal(0, 50, 60) == 50);
  CHECK(std::abs(moments_of(20'000, [&](auto i) { return random.truncated_normal(i, 5, 6); }).mean -
                 5.1845) < 0.01);
  CHECK(test::contains(test::error_of([&] { random.truncated_normal(0, 2, 1); }), "usage:"));
  CHECK(test::contains(test::error_of([&] { random.truncated_normal(0, NAN, 1); }), "usage:"));
}

TEST_CASE("random: without bounds the truncated normal is the normal") {
  const Random random(4);
  const double infinity = std::numeric_limits<double>::infinity();
  for (std::uint64_t i = 0; i < 1000; ++i) {
    CHECK(random.truncated_normal(i, -infinity, infinity) == random.normal(i));
  }
}

TEST_CASE("random: Bernoulli follows its probability, 0 never and 1 always") {
  const Random random(5);
  const auto share = [&](double p) {
    return share_where(kMany, [&](auto i) { return random.bernoulli(i, p); });
  };
  CHECK(std::abs(share(0.3) - 0.3) < 0.005);
  CHECK(share(0) == 0);
  CHECK(share(1) == 1);
}

TEST_CASE("random: below is even for odd bounds and stays inside extreme ones") {
  const Random random(6);
  for (const std::uint64_t bound : {1ULL, 3ULL, 7ULL, 1000ULL}) {
    std::vector<int> counts(bound);
    for (std::uint64_t i = 0; i < kMany; ++i) ++counts[random.below(i, bound)];
    const double expected = static_cast<double>(kMany) / static_cast<double>(bound);
    double chi_square = 0;
    for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
    const auto freedom = static_cast<double>(bound - 1);
    CHECK(chi_square <= freedom + 5 * std::sqrt(2 * freedom));
  }
  // Half of all first draws are rejected here: without redrawing, the lower half would be too full.
  const std::uint64_t odd = (1ULL << 63) + 1;
  const double lower = share_where(kMany, [&](auto i) { return random.below(i, odd) < odd / 2; });
  CHECK(std::abs(lower - 0.5) < 0.005);
  CHECK(share_where(1000, [&](auto i) { return random.below(i, ~0ULL) < ~0ULL; }) == 1);
  CHECK(test::contains(test::error_of([&] { random.below(0, 0); }), "internal:"));
}

TEST_CASE("random: a permutation holds everything once and differs by seed and stream") {
  const auto order = Random(7).permutation(1000);
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::int64_t i = 0; i < 1000; ++i) CHECK(sorted[static_cast<std::size_t>(i)] == i);
  CHECK(order != sorted);
  CHECK(order == Random(7).permutation(1000));
  CHECK(order != Random(8).permutation(1000));
  CHECK(order != Random(7, 1).permutation(1000));
  CHECK(Random(7).permutation(0).empty());
  CHECK(Random(7).permutation(1) == std::vector<std::int64_t>{0});
}

TEST_CASE("random: all orders of four elements are equally likely") {
  std::vector<int> counts(256);
  constexpr int kDraws = 48'000;
  for (int i = 0; i < kDraws; ++i) {
    const auto order = Random(9).fork(static_cast<std::uint64_t>(i)).permutation(4);
    ++counts[static_cast<std::size_t>(order[0] * 64 + order[1] * 16 + order[2] * 4 + order[3])];
  }
  CHECK(std::count_if(counts.begin(), counts.end(), [](int count) { return count > 0; }) == 24);
  for (const int count : counts) CHECK((count == 0 || std::abs(count - kDraws / 24) < 250));
}

TEST_CASE("random: streams, seeds and forks are independent of each other") {
  const Random base(10);
  const Random others[] = {Random(11), Random(10, 1), base.fork(0), base.fork(1),
                           base.fork(0).fork(0)};
  for (const auto& other : others) {
    double product = 0;
    for (std::uint64_t i = 0; i < 50'000; ++i) product += base.normal(i) * other.normal(i);
    CHECK(std::abs(product / 50'000) < 0.02);
  }
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  for (std::uint64_t i = 0; i < 10'000; ++i)
    seen.insert({base.fork(i).seed(), base.fork(i).stream()});
  CHECK(seen.size() == 10'000);
  CHECK(base.fork(5).normal(3) == Random(10).fork(5).normal(3));
}
