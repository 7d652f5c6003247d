// SPDX-License-Identifier: Apache-2.0
// Training and validation splits by NumPy's RandomState, the same that published weights were
// trained with.
#pragma once

#include <cstdint>
#include <vector>

namespace ubique::data {

inline constexpr std::uint32_t kSplitSeed = 42;

/// numpy.random.RandomState(seed).shuffle(0..n-1). Usage error below 0 or beyond 2^31.
std::vector<std::int64_t> numpy_shuffle(std::int64_t n, std::uint32_t seed = kSplitSeed);

struct Split {
  std::vector<std::int64_t> train, valid;  ///< indices into the sorted list of files
};

/// Shuffles `train + valid` files; the first `train` are the training set.
Split shuffled_split(std::int64_t train, std::int64_t valid);
/// `train` and `valid` are per class; the same shuffle is applied to each of the consecutive
/// classes.
Split split_by_class(std::int64_t classes, std::int64_t train, std::int64_t valid);

}  // namespace ubique::data
