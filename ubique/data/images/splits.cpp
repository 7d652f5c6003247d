// SPDX-License-Identifier: Apache-2.0
// Index lists of shuffled splits.
#include "ubique/data/images/splits.h"

#include "ubique/data/numpy_random.h"

namespace ubique::data {

std::vector<std::int64_t> numpy_shuffle(std::int64_t n, std::uint32_t seed) {
  return NumpyTwister(seed).permutation(n);
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
