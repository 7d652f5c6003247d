// SPDX-License-Identifier: Apache-2.0
// Decodes each dtype to fp64 and accumulates the statistics block by block.
#include "ubique/io/tensors/tensor_stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace ubique::io {
namespace {

/// Accumulates blocks: each is centred on its own mean and then merged, so that precision does not
/// depend on the number of values.
class StatsSum {
 public:
  void add(std::span<const double> block) {
    result_.count += static_cast<std::int64_t>(block.size());
    double sum = 0;
    std::int64_t finite = 0;
    for (const double value : block) {
      if (std::isnan(value)) {
        ++result_.nan;
        continue;
      }
      low_ = std::min(low_, value);
      high_ = std::max(high_, value);
      if (std::isinf(value)) {
        ++result_.infinite;
        continue;
      }
      sum += value;
      ++finite;
    }
    if (finite > 0) merge(block, sum / static_cast<double>(finite), finite);
  }

  TensorStats result() const {
    auto result = result_;
    if (result.count > result.nan) {
      result.min = low_;
      result.max = high_;
    }
    if (finite_ > 0) {
      result.mean = mean_;
      result.std = std::sqrt(squares_ / static_cast<double>(finite_));
    }
    return result;
  }

 private:
  void merge(std::span<const double> block, double mean, std::int64_t finite) {
    double squares = 0;
    for (const double value : block) {
      if (std::isfinite(value)) squares += (value - mean) * (value - mean);
    }
    const auto a = static_cast<double>(finite_), b = static_cast<double>(finite);
    const double delta = mean - mean_;
    mean_ += delta * (b / (a + b));
    squares_ += squares + delta * delta * (a * b / (a + b));
    finite_ += finite;
  }

  TensorStats result_;
  std::int64_t finite_ = 0;
  double mean_ = 0, squares_ = 0;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

/// What the statistics are made of.
struct StatsSource {
  std::uint64_t size;
  const ReadBytes& read;
};

template <typename T, typename Decode>
TensorStats stats_of(const StatsSource& source, Decode decode) {
  constexpr std::size_t kBlock = 4096, kPiece = 64 * kBlock;  // values summed and read at a time
  const auto all = source.size / sizeof(T);
  std::vector<T> raw(std::min<std::uint64_t>(kPiece, all));
  std::vector<double> values(std::min(kBlock, raw.size()));
  StatsSum sum;
  for (std::uint64_t done = 0; done < all;) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(raw.size(), all - done));
    const auto piece = std::span(raw).first(count);
    source.read(done * sizeof(T), std::as_writable_bytes(piece));
    for (std::size_t at = 0; at < count; at += kBlock) {
      const auto block = piece.subspan(at, std::min(kBlock, count - at));
      std::transform(block.begin(), block.end(), values.begin(),
                     [&](T value) { return static_cast<double>(decode(value)); });
      sum.add({values.data(), block.size()});
    }
    done += count;
  }
  return sum.result();
}

template <typename T>
TensorStats stats_of(const StatsSource& source) {
  return stats_of<T>(source, [](T value) { return value; });
}

float with_sign(float magnitude, bool negative) { return negative ? -magnitude : magnitude; }

}  // namespace

// Exponent and mantissa are shifted to their position in a float, and a multiplication corrects the
// bias; it is exact, and handles subnormal numbers too.
float decode_f16(std::uint16_t bits) {
  const bool negative = (bits & 0x8000U) != 0;
  const std::uint32_t rest = bits & 0x7FFFU;
  if (rest >= 0x7C00U) {
    return with_sign(rest == 0x7C00U ? std::numeric_limits<float>::infinity()
                                     : std::numeric_limits<float>::quiet_NaN(),
                     negative);
  }
  return with_sign(std::bit_cast<float>(rest << 13U) * 0x1p112F, negative);
}

float decode_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

float decode_f8e4m3(std::uint8_t bits) {
  const bool negative = (bits & 0x80U) != 0;
  const std::uint32_t rest = bits & 0x7FU;
  if (rest == 0x7FU) return with_sign(std::numeric_limits<float>::quiet_NaN(), negative);
  return with_sign(std::bit_cast<float>(rest << 20U) * 0x1p120F, negative);
}

float decode_f8e5m2(std::uint8_t bits) {
  return decode_f16(static_cast<std::uint16_t>(bits << 8U));  // the upper half of an f16
}

std::optional<TensorStats> tensor_stats(DType dtype, std::span<const std::byte> bytes) {
  return tensor_stats(dtype, bytes.size(), [&](std::uint64_t offset, std::span<std::byte> out) {
    std::memcpy(out.data(), bytes.data() + offset, out.size());
  });
}

std::optional<TensorStats> tensor_stats(DType dtype, std::uint64_t size, const ReadBytes& read) {
  const StatsSource source{size, read};
  switch (dtype) {
    case DType::Bool:
      return stats_of<std::uint8_t>(source, [](auto b) { return b != 0 ? 1 : 0; });
    case DType::U8:
      return stats_of<std::uint8_t>(source);
    case DType::I8:
      return stats_of<std::int8_t>(source);
    case DType::U16:
      return stats_of<std::uint16_t>(source);
    case DType::I16:
      return stats_of<std::int16_t>(source);
    case DType::U32:
      return stats_of<std::uint32_t>(source);
    case DType::I32:
      return stats_of<std::int32_t>(source);
    case DType::U64:
      return stats_of<std::uint64_t>(source);
    case DType::I64:
      return stats_of<std::int64_t>(source);
    case DType::F8E4M3:
      return stats_of<std::uint8_t>(source, decode_f8e4m3);
    case DType::F8E5M2:
      return stats_of<std::uint8_t>(source, decode_f8e5m2);
    case DType::F16:
      return stats_of<std::uint16_t>(source, decode_f16);
    case DType::BF16:
      return stats_of<std::uint16_t>(source, decode_bf16);
    case DType::F32:
      return stats_of<float>(source);
    case DType::F64:
      return stats_of<double>(source);
    case DType::C64:
      break;
  }
  return std::nullopt;
}

}  // namespace ubique::io
