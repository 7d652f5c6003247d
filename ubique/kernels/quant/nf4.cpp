// SPDX-License-Identifier: Apache-2.0
// The codes of NF4 and the search in them.
#include "ubique/kernels/quant/nf4.h"

#include <algorithm>
#include <cmath>

namespace ubique::kernels {
namespace {

float largest_magnitude(std::span<const float> values) {
  float most = 0;
  for (const float value : values) most = std::max(most, std::fabs(value));
  return most;
}

/// Index of the nearest value of a rising code; the lower one of two equally near.
template <std::size_t kSize>
std::uint8_t nearest(const std::array<float, kSize>& middles, float value) {
  const auto above = std::lower_bound(middles.begin(), middles.end(), value);
  return static_cast<std::uint8_t>(above - middles.begin());
}

template <std::size_t kSize>
std::array<float, kSize - 1> middles_of(const std::array<float, kSize>& code) {
  std::array<float, kSize - 1> middles{};
  for (std::size_t i = 0; i + 1 < kSize; ++i) middles[i] = (code[i] + code[i + 1]) * 0.5F;
  return middles;
}

/// Values from 0.1 to 1 at equal distances, counted from the nearer end: the rounding that the
/// published code has.
float even_step(int i, int count) {
  const double step = (1.0F - 0.1F) / static_cast<float>(count - 1);
  if (i < count / 2) return static_cast<float>(static_cast<double>(0.1F) + step * i);
  return static_cast<float>(1.0 - step * (count - 1 - i));
}

std::array<float, 256> make_scale_code() {
  constexpr float kPowers[] = {1e-6F, 1e-5F, 1e-4F, 1e-3F, 1e-2F, 1e-1F, 1};
  std::array<float, 256> code{};
  std::size_t filled = 0;
  for (int exponent = 0; exponent < 7; ++exponent) {
    const int parts = 1 << exponent;
    for (int i = 0; i < parts; ++i) {
      const float middle = (even_step(i, parts + 1) + even_step(i + 1, parts + 1)) / 2;
      code[filled++] = kPowers[exponent] * middle;
      code[filled++] = -(kPowers[exponent] * middle);
    }
  }
  code[filled++] = 0;
  code[filled++] = 1;
  std::sort(code.begin(), code.end());
  return code;
}

}  // namespace

const std::array<float, 16>& nf4_code() {
  static constexpr std::array<float, 16> kCode = {-1.0F,
                                                  -0.6961928009986877F,
                                                  -0.5250730514526367F,
                                                  -0.39491748809814453F,
                                                  -0.28444138169288635F,
                                                  -0.18477343022823334F,
                                                  -0.09105003625154495F,
                                                  0.0F,
                                                  0.07958029955625534F,
                                                  0.16093020141124725F,
                                                  0.24611230194568634F,
                                                  0.33791524171829224F,
                                                  0.44070982933044434F,
                                                  0.5626170039176941F,
                                                  0.7229568362236023F,
                                                  1.0F};
  return kCode;
}

const std::array<float, 256>& scale_code() {
  static const auto code = make_scale_code();
  return code;
}

float quantize_nf4(std::span<const float> values, std::span<std::uint8_t> packed) {
  static const auto middles = middles_of(nf4_code());
  const float most = largest_magnitude(values);
  const float factor = most > 0 ? 1.0F / most : 0.0F;
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const unsigned first = nearest(middles, values[2 * i] * factor);
    const unsigned second = nearest(middles, values[2 * i + 1] * factor);
    packed[i] = static_cast<std::uint8_t>(first << 4U | second);
  }
  return most;
}

float quantize_scales(std::span<const float> values, std::span<std::uint8_t> indices) {
  static const auto middles = middles_of(scale_code());
  const float most = largest_magnitude(values);
  const float factor = most > 0 ? 1.0F / most : 0.0F;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // The published code looks values up on a grid of 65536 points, which moves a few of them to
    // the other neighbour.
    const float point = std::floor((values[i] * factor + 1.0F) * 32767.5F + 0.5F);
    indices[i] = most > 0 ? nearest(middles, point / 65535.0F * 2.0F - 1.0F) : std::uint8_t{0};
  }
  return most;
}

}  // namespace ubique::kernels
