// SPDX-License-Identifier: Apache-2.0
// NumPy's two generators, bit for bit, as far as the original data loaders use them, to reproduce
// published splits and orders. For everything else use base/numbers/random.h.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace ubique::data {

/// numpy.random.RandomState(seed), the generator behind numpy.random.seed().
class NumpyTwister {
 public:
  explicit NumpyTwister(std::uint32_t seed) : twister_(seed) {}  // NumPy seeds it the same way

  /// shuffle(0..n-1). Usage error below 0 or beyond 2^31.
  std::vector<std::int64_t> permutation(std::int64_t n);
  /// choice(n, count, replace=False).
  std::vector<std::int64_t> choice(std::int64_t n, std::int64_t count);

 private:
  std::mt19937 twister_;  // the standard fixes its bits
};

/// numpy.random.Generator(numpy.random.Philox(seed=seed)).
class NumpyPhilox {
 public:
  explicit NumpyPhilox(std::uint64_t seed);

  const std::array<std::uint64_t, 2>& key() const { return key_; }
  std::uint64_t next64();
  std::uint32_t next32();  ///< the low half of a 64-bit word first, then its high half
  /// integers(low, high); draws nothing where only one value is possible. Internal error if the
  /// range is empty or wider than 2^32 - 1.
  std::int64_t integers(std::int64_t low, std::int64_t high);
  std::vector<std::int32_t> permutation(std::int32_t n);  ///< of 0..n-1

 private:
  std::uint32_t at_most(std::uint32_t largest);

  std::array<std::uint64_t, 2> key_;
  std::array<std::uint64_t, 4> counter_{}, block_{};
  std::size_t used_ = 4;     // words of block_
  std::uint32_t spare_ = 0;  // the high half of the last word
  bool has_spare_ = false;
};

}  // namespace ubique::data
