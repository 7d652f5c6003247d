// SPDX-License-Identifier: Apache-2.0
#include "ubique/data/images/splits.h"

#include <bit>
#include <numeric>
#include <random>

#include "ubique/base/error.h"

namespace ubique::data {

std::vector<std::int64_t> numpy_shuffle(std::int64_t n, std::uint32_t seed) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31U;
  check(n >= 0 && n <= kMost, ErrorKind::Usage,
        "[data.splits] cannot shuffle {} files; expected 0 to 2^31.", n);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 twister(seed);  // the standard fixes its bits; NumPy seeds it the same way
  for (std::size_t i = order.size(); i-- > 1;) {
    const auto mask = static_cast<std::uint32_t>(std::bit_ceil(i + 1) - 1);
    std::size_t j = twister() & mask;
    while (j > i) j = twister() & mask;
    std::swap(order[i], order[j]);
  }
  return order;
}

Split shuffled_split(std::int64_t train, std::int64_t valid) {
  return split_by_class(1, train, valid);
}

Split split_by_class(std::int64_t classes, std::int64_t train, std::int64_t valid) {
  const auto order = numpy_shuffle(train + valid);
  Split split;
  for (std::int64_t group = 0; group < classes; ++group) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      auto& part = static_cast<std::int64_t>(i) < train ? split.train : split.valid;
      part.push_back(group * (train + valid) + order[i]);
    }
  }
  return split;
}

}  // namespace ubique::data
