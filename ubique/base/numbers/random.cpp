// SPDX-License-Identifier: Apache-2.0
// Layout: counter = (index low, index high, stream low, stream high), key = seed. Every index owns
// one block of four words and every distribution reads only that block, so value i needs no state.
// Compiled with -ffp-contract=off, like normal.cpp: the same bits on every processor.
#include "ubique/base/numbers/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ubique/base/error.h"
#include "ubique/base/numbers/normal.h"
#include "ubique/base/parallel.h"

namespace ubique {
namespace {

using Block = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

constexpr std::uint64_t kForkKey = 0x6b726f662d716275;  // separates forks from values

Block words_of(std::uint64_t low, std::uint64_t high) {
  return {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32U),
          static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32U)};
}

Key key_of(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
}

std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return (static_cast<std::uint64_t>(high) << 32U) | low;
}

std::uint64_t wide_bits(const Random& random, std::uint64_t index) {
  const auto block = philox4x32(words_of(index, random.stream()), key_of(random.seed()));
  return joined(block[0], block[1]);
}

/// (0, 1), 52 bits: midpoints of equal steps, so neither end is ever returned.
double open_uniform(const Random& random, std::uint64_t index) {
  return (static_cast<double>(wide_bits(random, index) >> 12U) + 0.5) * 0x1p-52;
}

/// A normal distribution truncated at two bounds. The constructor computes what does not depend on
/// the index.
class TruncatedNormal {
 public:
  TruncatedNormal(double low, double high) : low_(low), high_(high) {
    check(low <= high, ErrorKind::Usage,
          "[base.random] bounds of a truncated normal are out of order; got {} and {}, expected "
          "the lower one first.",
          low, high);
    // Mirrored so that the longer tail is the lower one, where small probabilities are accurate.
    mirrored_ = low + high > 0;
    cdf_low_ = normal_cdf(mirrored_ ? -high : low);
    cdf_high_ = normal_cdf(mirrored_ ? -low : high);
  }

  double at(double uniform) const {
    const double p = cdf_low_ + uniform * (cdf_high_ - cdf_low_);
    if (!(p > 0)) return mirrored_ ? low_ : high_;  // p underflows far out: the nearer bound
    const double x = normal_quantile(std::min(p, 1 - 0x1p-53));
    return std::clamp(mirrored_ ? -x : x, low_, high_);
  }

 private:
  double low_, high_;
  bool mirrored_ = false;
  double cdf_low_ = 0, cdf_high_ = 0;
};

/// out[i] = value(first + i).
template <typename Value>
void fill_parts(std::span<float> out, std::uint64_t first, int threads, const Value& value) {
  constexpr std::int64_t kLeastPerPart = 4096;
  const auto fill = [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      out[i] = value(first + i);
    }
  };
  parallel_for(static_cast<std::int64_t>(out.size()), threads, fill, kLeastPerPart);
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = 0xD2511F53ULL * counter[0];
    const std::uint64_t product1 = 0xCD9E8D57ULL * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32U) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32U) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

// Philox is a bijection, so no two forks of one seed are the same stream.
Random Random::fork(std::uint64_t index) const {
  const auto block = philox4x32(words_of(index, stream_), key_of(seed_ ^ kForkKey));
  return Random(joined(block[0], block[1]), joined(block[2], block[3]));
}

std::uint32_t Random::bits(std::uint64_t index) const {
  return philox4x32(words_of(index, stream_), key_of(seed_))[0];
}

double Random::uniform(std::uint64_t index) const {
  return static_cast<double>(wide_bits(*this, index) >> 11U) * 0x1p-53;
}

double Random::normal(std::uint64_t index) const {
  return normal_quantile(open_uniform(*this, index));
}

double Random::truncated_normal(std::uint64_t index, double low, double high) const {
  return TruncatedNormal(low, high).at(open_uniform(*this, index));
}

bool Random::bernoulli(std::uint64_t index, double probability) const {
  return uniform(index) < probability;
}

// Lemire 2019: the high half of a 64 x 64 bit product, redrawn where it would be biased. A redraw
// takes the block's other two words, then the words of the block fed back as a counter.
std::uint64_t Random::below(std::uint64_t index, std::uint64_t bound) const {
  check(bound > 0, ErrorKind::Internal, "[base.random] below(0): the range is empty.");
  auto block = philox4x32(words_of(index, stream_), key_of(seed_));
  const std::uint64_t biased = (0 - bound) % bound;  // 2^64 mod bound
  for (std::size_t pair = 0;; pair ^= 2U) {
    const auto product =
        static_cast<unsigned __int128>(joined(block[pair], block[pair + 1])) * bound;
    if (static_cast<std::uint64_t>(product) >= biased) {
      return static_cast<std::uint64_t>(product >> 64U);
    }
    if (pair == 2) block = philox4x32(block, key_of(seed_));
  }
}

// Fisher-Yates from the end: element i is swapped with one of 0..i, drawn by below(i, i + 1).
std::vector<std::int64_t> Random::permutation(std::int64_t n) const {
  check(n >= 0, ErrorKind::Internal, "[base.random] permutation of {} elements.", n);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[below(i, i + 1)]);
  return order;
}

void Random::fill_uniform(std::span<float> out, float low, float high, std::uint64_t first,
                          int threads) const {
  const double width = static_cast<double>(high) - low;
  const float last = std::nextafter(high, low);  // rounding to float must not reach the open end
  fill_parts(out, first, threads, [&](std::uint64_t index) {
    const auto value = static_cast<float>(low + width * uniform(index));
    return value < high ? value : last;
  });
}

void Random::fill_normal(std::span<float> out, float mean, float deviation, std::uint64_t first,
                         int threads) const {
  fill_parts(out, first, threads, [&](std::uint64_t index) {
    return static_cast<float>(mean + static_cast<double>(deviation) * normal(index));
  });
}

void Random::fill_truncated_normal(std::span<float> out, float mean, float deviation, float low,
                                   float high, std::uint64_t first, int threads) const {
  check(deviation > 0, ErrorKind::Usage,
        "[base.random] deviation of a truncated normal must be positive; got {}.", deviation);
  const double scale = deviation;
  const TruncatedNormal truncated((static_cast<double>(low) - mean) / scale,
                                  (static_cast<double>(high) - mean) / scale);
  fill_parts(out, first, threads, [&](std::uint64_t index) {
    const auto value = static_cast<float>(mean + scale * truncated.at(open_uniform(*this, index)));
    return std::clamp(value, low, high);
  });
}

}  // namespace ubique
