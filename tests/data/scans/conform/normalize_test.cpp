// SPDX-License-Identifier: Apache-2.0
// Normalisation of intensities: ranges, exact quantiles, flat volumes, names.
#include <algorithm>
#include <cmath>

#include "tests/base/scratch.h"
#include "tests/data/scans/grids.h"
#include "ubique/data/scans/conform/normalize.h"

using namespace ubique;
using data::Normalization;

namespace {

data::Volume row_of(std::vector<float> values) {
  return {{1, 1, static_cast<std::int64_t>(values.size())}, test::straight({1, 1, 1}), values};
}

std::vector<float> normalized(std::vector<float> values, Normalization how, double low = 0.05,
                              double high = 0.95, int threads = 1) {
  auto volume = row_of(std::move(values));
  data::normalize(volume, how, low, high, threads);
  return volume.values;
}

}  // namespace

TEST_CASE("normalize: min_max spans 0 to 1, in f32 arithmetic") {
  CHECK(normalized({3, 1, 5, 2}, Normalization::MinMax) == std::vector<float>{0.5, 0, 1, 0.25});
  const auto values = test::noise({7, 11, 13}, test::straight({1, 1, 1})).values;
  const auto found = normalized(values, Normalization::MinMax);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const float least = *low, range = *high - *low;
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(found[i] == (values[i] - least) / range);
  CHECK(normalized(values, Normalization::MinMax, 0, 1, 3) == found);
}

TEST_CASE("normalize: extreme values are found at every index") {
  for (std::size_t length = 1; length < 40; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      std::vector<float> values(length, 1.0F);
      values[place] = -3;
      const auto found = normalized(values, Normalization::MinMax);
      CHECK(found[place] == 0);
      if (length > 1) CHECK(found[(place + 1) % length] == 1);
    }
  }
}

TEST_CASE("normalize: a flat volume becomes zeros with every method") {
  for (const auto how : {Normalization::MinMax, Normalization::Quantile, Normalization::ZScore}) {
    CHECK(normalized({7, 7, 7}, how) == std::vector<float>{0, 0, 0});
    CHECK(normalized({7}, how) == std::vector<float>{0});
    CHECK(normalized({}, how).empty());
  }
  CHECK(normalized({0, 5e-9F}, Normalization::MinMax) == std::vector<float>{0, 0});
  CHECK(normalized({7, 8}, Normalization::None) == std::vector<float>{7, 8});
}

TEST_CASE("normalize: quantiles are the sorted values at floor(low n), ceil(high n) - 1") {
  for (const std::size_t length : {2, 3, 19, 20, 21, 100, 1000}) {
    std::vector<float> values(length);
    Random(length).fill_normal(values, 0, 100);
    values[0] = -0.0F;
    auto sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [low, high] : {std::pair{0.05, 0.95}, {0.02, 0.98}, {0.0, 1.0}, {0.3, 0.9}}) {
      const double count = static_cast<double>(length);
      const float first = sorted[static_cast<std::size_t>(std::floor(low * count))];
      const float last = sorted[static_cast<std::size_t>(std::ceil(high * count)) - 1];
      if (first == last) continue;
      const auto found = normalized(values, Normalization::Quantile, low, high);
      for (std::size_t i = 0; i < length; ++i)
        CHECK(found[i] == (values[i] - first) / (last - first));
    }
  }
}

TEST_CASE("normalize: quantiles of 8-bit values, and values beyond them are not clipped") {
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<float>(i % 200));
  const auto found = normalized(values, Normalization::Quantile);  // 10 and 189
  CHECK(found[10] == 0);
  CHECK(found[189] == 1);
  CHECK(found[199] == 189.0F / 179.0F);
  CHECK(found[0] == -10.0F / 179.0F);
}

TEST_CASE("normalize: a scan nearly all background has no quantiles to scale by") {
  std::vector<float> values(1000);
  values[500] = 3;
  const auto message =
      test::refusal_of(ErrorKind::Input, [&] { normalized(values, Normalization::Quantile); });
  CHECK(test::contains(message, "got 0 at the quantiles 0.05 and 0.95, but values from 0 to 3"));
  test::refusal_of(ErrorKind::Usage,
                   [&] { normalized(values, Normalization::Quantile, 0.9, 0.1); });
}

TEST_CASE("normalize: z_score has mean 0 and deviation 1") {
  CHECK(normalized({1, 3}, Normalization::ZScore) == std::vector<float>{-1, 1});
  const auto values = test::noise({9, 10, 11}, test::straight({1, 1, 1})).values;
  double sum = 0, squares = 0;
  const auto found = normalized(values, Normalization::ZScore);
  for (const double value : found) {
    sum += value;
    squares += value * value;
  }
  CHECK(sum / 990 == doctest::Approx(0).epsilon(1e-5));
  CHECK(squares / 990 == doctest::Approx(1).epsilon(1e-5));
}

TEST_CASE("normalize: names are read as they are printed") {
  for (const auto how : {Normalization::MinMax, Normalization::Quantile, Normalization::ZScore,
                         Normalization::None}) {
    CHECK(data::parse_normalization(data::to_string(how)) == how);
  }
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage, [] { data::parse_normalization("minmax"); }),
      "Did you mean 'min_max'"));
}
