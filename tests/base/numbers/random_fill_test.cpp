// SPDX-License-Identifier: Apache-2.0
// Filling ranges: the same numbers for any number of threads, any order and any split.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/base/scratch.h"
#include "ubique/base/numbers/random.h"

using namespace ubique;

namespace {
using Fill = std::function<void(std::span<float>, std::uint64_t first, int threads)>;

std::vector<Fill> all_fills(const Random& random) {
  return {
      [=](auto out, auto first, int threads) { random.fill_uniform(out, -1, 1, first, threads); },
      [=](auto out, auto first, int threads) { random.fill_normal(out, 1, 2, first, threads); },
      [=](auto out, auto first, int threads) {
        random.fill_truncated_normal(out, 0, 0.02F, -0.04F, 0.04F, first, threads);
      },
  };
}
}  // namespace

TEST_CASE("random fill: any number of threads gives the same numbers") {
  for (const auto& fill : all_fills(Random(1, 2))) {
    std::vector<float> one(50'001), many(50'001);
    fill(one, 0, 1);
    for (const int threads : {0, 2, 3, 8, 1000}) {
      std::fill(many.begin(), many.end(), 0.0F);
      fill(many, 0, threads);
      CHECK(many == one);
    }
  }
}

TEST_CASE("random fill: a range may be split anywhere and filled in any order") {
  for (const auto& fill : all_fills(Random(3))) {
    std::vector<float> whole(1000), cut(1000);
    fill(whole, 70, 1);
    fill(std::span(cut).subspan(600), 670, 2);
    fill(std::span(cut).subspan(0, 600), 70, 1);
    CHECK(cut == whole);
    fill({}, 0, 4);
  }
}

TEST_CASE("random fill: values are those of the single calls") {
  const Random random(42, 7);
  std::vector<float> out(4);
  random.fill_uniform(out, -1, 1);
  CHECK(out ==
        std::vector<float>{0x1.955044p-1F, -0x1.ff09e6p-3F, 0x1.c002acp-1F, -0x1.bd2a88p-7F});
  random.fill_normal(out, 1, 0.02F);
  CHECK(out == std::vector<float>{0x1.0670f6p+0F, 0x1.fcbe54p-1F, 0x1.07daeap+0F, 0x1.ffd35cp-1F});
  random.fill_truncated_normal(out, 0, 0.02F, -0.04F, 0.04F);
  CHECK(out ==
        std::vector<float>{0x1.7d722ap-6F, -0x1.8d4352p-8F, 0x1.c730a6p-6F, -0x1.54d852p-12F});
  random.fill_normal(out, 0, 1, 5);
  CHECK(out[0] == static_cast<float>(random.normal(5)));
}

TEST_CASE("random fill: rounding to float never reaches the open end") {
  std::vector<float> out(100'000);
  Random(5).fill_uniform(out, 1.0F, std::nextafter(1.0F, 2.0F));
  CHECK(*std::max_element(out.begin(), out.end()) == 1.0F);
  Random(5).fill_uniform(out, 0.0F, 1.0F);
  CHECK(*std::max_element(out.begin(), out.end()) < 1.0F);
  CHECK(*std::min_element(out.begin(), out.end()) >= 0.0F);
  Random(5).fill_uniform(out, 2.0F, 2.0F);
  CHECK(out[0] == 2.0F);
}

TEST_CASE("random fill: bounds of the truncated normal are those of the values") {
  std::vector<float> out(50'000);
  Random(6).fill_truncated_normal(out, 10, 2, 9, 13);
  const auto [low, high] = std::minmax_element(out.begin(), out.end());
  CHECK(*low >= 9.0F);
  CHECK(*low < 9.01F);
  CHECK(*high <= 13.0F);
  CHECK(*high > 12.9F);
  CHECK(test::contains(test::error_of([&] { Random(6).fill_truncated_normal(out, 0, 0, -1, 1); }),
                       "usage:"));
  CHECK(test::contains(test::error_of([&] { Random(6).fill_truncated_normal(out, 0, 1, 1, -1); }),
                       "usage:"));
}
