// SPDX-License-Identifier: Apache-2.0
// Philox4x64-10 (Salmon et al. 2011) keyed by NumPy's SeedSequence, and bounded integers as NumPy
// draws them: masked rejection for shuffles, Lemire's method for single numbers.
#include "ubique/data/numpy_random.h"

#include <bit>
#include <numeric>
#include <utility>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

/// SeedSequence's hash; its constant changes with every value.
class SeedHash {
 public:
  SeedHash(std::uint32_t constant, std::uint32_t factor) : constant_(constant), factor_(factor) {}
  std::uint32_t operator()(std::uint32_t value) {
    value ^= constant_;
    constant_ *= factor_;
    value *= constant_;
    return value ^ (value >> 16U);
  }

 private:
  std::uint32_t constant_, factor_;
};

std::uint32_t seed_mix(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t mixed = 0xca01f9ddU * x - 0x4973f715U * y;
  return mixed ^ (mixed >> 16U);
}

/// SeedSequence(seed).generate_state(2, uint64).
std::array<std::uint64_t, 2> seed_sequence_key(std::uint64_t seed) {
  std::array<std::uint32_t, 4> pool{static_cast<std::uint32_t>(seed),
                                    static_cast<std::uint32_t>(seed >> 32U), 0, 0};
  SeedHash absorb(0x43b0d7e5U, 0x931e8875U);
  for (auto& word : pool) word = absorb(word);
  for (std::size_t from = 0; from < pool.size(); ++from) {
    for (std::size_t to = 0; to < pool.size(); ++to) {
      if (from != to) pool[to] = seed_mix(pool[to], absorb(pool[from]));
    }
  }
  SeedHash squeeze(0x8b51f9ddU, 0x58f38dedU);
  for (auto& word : pool) word = squeeze(word);
  return {pool[0] | (std::uint64_t{pool[1]} << 32U), pool[2] | (std::uint64_t{pool[3]} << 32U)};
}

std::array<std::uint64_t, 4> philox4x64(std::array<std::uint64_t, 4> counter,
                                        std::array<std::uint64_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const auto product0 = static_cast<unsigned __int128>(0xD2E7470EE14C6C93ULL) * counter[0];
    const auto product1 = static_cast<unsigned __int128>(0xCA5A826395121157ULL) * counter[2];
    counter = {static_cast<std::uint64_t>(product1 >> 64U) ^ counter[1] ^ key[0],
               static_cast<std::uint64_t>(product1),
               static_cast<std::uint64_t>(product0 >> 64U) ^ counter[3] ^ key[1],
               static_cast<std::uint64_t>(product0)};
    key[0] += 0x9E3779B97F4A7C15ULL;
    key[1] += 0xBB67AE8584CAA73BULL;
  }
  return counter;
}

/// A number from 0 to `largest` by masked rejection, which both generators use for shuffles.
template <typename Next>
std::size_t masked_number(std::size_t largest, const Next& next32) {
  const auto mask = static_cast<std::uint32_t>(std::bit_ceil(largest + 1) - 1);
  std::size_t number = next32() & mask;
  while (number > largest) number = next32() & mask;
  return number;
}

}  // namespace

std::vector<std::int64_t> NumpyTwister::permutation(std::int64_t n) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31U;
  check(n >= 0 && n <= kMost, ErrorKind::Usage,
        "[data.numpy] cannot shuffle {} items; expected 0 to 2^31.", n);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i-- > 1;) {
    std::swap(order[i], order[masked_number(i, [&] { return twister_(); })]);
  }
  return order;
}

std::vector<std::int64_t> NumpyTwister::choice(std::int64_t n, std::int64_t count) {
  check(count >= 0 && count <= n, ErrorKind::Internal, "[data.numpy] cannot choose {} of {} items.",
        count, n);
  auto order = permutation(n);
  order.resize(static_cast<std::size_t>(count));
  return order;
}

NumpyPhilox::NumpyPhilox(std::uint64_t seed) : key_(seed_sequence_key(seed)) {}

std::uint64_t NumpyPhilox::next64() {
  if (used_ == block_.size()) {
    for (auto& word : counter_) {
      if (++word != 0) break;
    }
    block_ = philox4x64(counter_, key_);
    used_ = 0;
  }
  return block_[used_++];
}

std::uint32_t NumpyPhilox::next32() {
  has_spare_ = !has_spare_;
  if (!has_spare_) return spare_;
  const auto word = next64();
  spare_ = static_cast<std::uint32_t>(word >> 32U);
  return static_cast<std::uint32_t>(word);
}

std::uint32_t NumpyPhilox::at_most(std::uint32_t largest) {
  if (largest == 0) return 0;
  const std::uint32_t bound = largest + 1;
  auto product = std::uint64_t{next32()} * bound;
  if (static_cast<std::uint32_t>(product) < bound) {
    const std::uint32_t biased = (0xFFFFFFFFU - largest) % bound;
    while (static_cast<std::uint32_t>(product) < biased) product = std::uint64_t{next32()} * bound;
  }
  return static_cast<std::uint32_t>(product >> 32U);
}

std::int64_t NumpyPhilox::integers(std::int64_t low, std::int64_t high) {
  check(low < high && high - low < 0xFFFFFFFFLL, ErrorKind::Internal,
        "[data.numpy] no number between {} and {}.", low, high);
  return low + at_most(static_cast<std::uint32_t>(high - low - 1));
}

std::vector<std::int32_t> NumpyPhilox::permutation(std::int32_t n) {
  check(n >= 0, ErrorKind::Internal, "[data.numpy] permutation of {} items.", n);
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i-- > 1;) {
    std::swap(order[i], order[masked_number(i, [&] { return next32(); })]);
  }
  return order;
}

}  // namespace ubique::data
