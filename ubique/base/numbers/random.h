// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers (Philox4x32-10): value i of stream s under seed k depends on nothing
// else, so one seed gives the same numbers on every device and with any number of threads, to the
// bit with every C library, compiler and processor.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ubique {

/// The Philox bijection with ten rounds, as published (Salmon et al. 2011).
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// A stream of random values addressed by index; there is no state, so the order of calls does not
/// matter.
class Random {
 public:
  /// Streams of one seed are independent: give each use (initialisation, shuffle, noise) its own.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  std::uint64_t seed() const { return seed_; }
  std::uint64_t stream() const { return stream_; }
  /// A stream derived from this one, for item `index` (a sample, a layer, a step); it has a seed
  /// and a stream number of its own.
  Random fork(std::uint64_t index) const;

  std::uint32_t bits(std::uint64_t index) const;
  double uniform(std::uint64_t index) const;  ///< [0, 1), 53 bits
  double normal(std::uint64_t index) const;   ///< mean 0, variance 1
  /// A standard normal value between the bounds, by the inverse distribution: exact, no rejection.
  double truncated_normal(std::uint64_t index, double low, double high) const;
  bool bernoulli(std::uint64_t index, double probability) const;
  /// [0, bound), without bias.
  std::uint64_t below(std::uint64_t index, std::uint64_t bound) const;
  /// A permutation of 0..n-1: Fisher-Yates from the end by below(i, i + 1).
  std::vector<std::int64_t> permutation(std::int64_t n) const;

  // Whole ranges: out[i] is value first + i. Split over threads; the numbers do not depend on how.
  // Uniform: [low, high). Truncated normal: low and high bound the values, not the deviations.
  void fill_uniform(std::span<float> out, float low = 0, float high = 1, std::uint64_t first = 0,
                    int threads = 1) const;
  void fill_normal(std::span<float> out, float mean = 0, float deviation = 1,
                   std::uint64_t first = 0, int threads = 1) const;
  void fill_truncated_normal(std::span<float> out, float mean, float deviation, float low,
                             float high, std::uint64_t first = 0, int threads = 1) const;

 private:
  std::uint64_t seed_, stream_;
};

}  // namespace ubique
