// SPDX-License-Identifier: Apache-2.0
// The order in which NumPy's RandomState shuffles, so that training and validation sets are those
// that published weights were made with.
#pragma once

#include <cstdint>
#include <vector>

namespace ubique::data {

inline constexpr std::uint32_t kSplitSeed = 42;

/// numpy.random.RandomState(seed).shuffle(0..n-1). Usage error below 0 or beyond 2^31.
std::vector<std::int64_t> numpy_shuffle(std::int64_t n, std::uint32_t seed = kSplitSeed);

struct Split {
  std::vector<std::int64_t> train, valid;  ///< places in the sorted list of files
};

/// The first `train` of a shuffle of `train + valid` train, the rest validate.
Split shuffled_split(std::int64_t train, std::int64_t valid);
/// One shuffle of a class, used for each of the `classes` that follow one another.
Split split_by_class(std::int64_t classes, std::int64_t train, std::int64_t valid);

}  // namespace ubique::data
