// SPDX-License-Identifier: Apache-2.0
// SIMD passes over one or two maps, eight doubles at a time: GCC's and Clang's vector types,
// compiled for each instruction set and dispatched at run time. Sums are in double for float maps
// too. Internal to the metrics.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#define UBIQUE_MAP_AVX512 [[gnu::target("avx512f,avx512dq,avx2,fma")]]
#define UBIQUE_MAP_AVX2 [[gnu::target("avx2,fma")]]
#endif
#define UBIQUE_MAP_INLINE [[gnu::always_inline]] inline

namespace ubique::msinet::lanes {

inline constexpr std::int64_t kWidth = 8;
typedef double Doubles __attribute__((vector_size(8 * sizeof(double))));
typedef std::int64_t Longs __attribute__((vector_size(8 * sizeof(double))));
typedef float Floats __attribute__((vector_size(8 * sizeof(float))));

UBIQUE_MAP_INLINE void load(Doubles& to, const double* from) { std::memcpy(&to, from, sizeof(to)); }
UBIQUE_MAP_INLINE void load(Doubles& to, const float* from) {
  Floats narrow;
  std::memcpy(&narrow, from, sizeof(narrow));
  to = __builtin_convertvector(narrow, Doubles);
}
/// The first `count` values, padded with the first one, which leaves minima and maxima unchanged.
template <typename T>
UBIQUE_MAP_INLINE void load_some(Doubles& to, const T* from, std::int64_t count) {
  T padded[kWidth];
  for (std::int64_t i = 0; i < kWidth; ++i) padded[i] = from[i < count ? i : 0];
  load(to, padded);
}
UBIQUE_MAP_INLINE double total(const Doubles& values) {
  double sum = 0;
  for (std::int64_t i = 0; i < kWidth; ++i) sum += values[i];
  return sum;
}

/// visit(values, weights): weights are 1, and 0 beyond the end of the map.
template <typename T, typename Visit>
UBIQUE_MAP_INLINE void for_each(const T* map, std::int64_t count, const Visit& visit) {
  const Doubles ones = Doubles{} + 1.0;
  Doubles values{}, weights{};
  std::int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    load(values, map + i);
    visit(values, ones);
  }
  if (i == count) return;
  load_some(values, map + i, count - i);
  for (std::int64_t k = 0; k < kWidth; ++k) weights[k] = i + k < count ? 1 : 0;
  visit(values, weights);
}

/// The same with two maps of one size: visit(first, second, weights).
template <typename T, typename U, typename Visit>
UBIQUE_MAP_INLINE void for_each_pair(const T* first, const U* second, std::int64_t count,
                                     const Visit& visit) {
  const Doubles ones = Doubles{} + 1.0;
  Doubles a{}, b{}, weights{};
  std::int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    load(a, first + i);
    load(b, second + i);
    visit(a, b, ones);
  }
  if (i == count) return;
  load_some(a, first + i, count - i);
  load_some(b, second + i, count - i);
  for (std::int64_t k = 0; k < kWidth; ++k) weights[k] = i + k < count ? 1 : 0;
  visit(a, b, weights);
}

/// Natural logarithm of positive normal numbers, within 2 units in the last place: exponent and
/// mantissa in [sqrt(1/2), sqrt(2)), then the series of artanh((m - 1) / (m + 1)).
UBIQUE_MAP_INLINE void logarithm(Doubles& value) {
  constexpr std::int64_t kHalfRoot = 0x3FE6A09E667F3BCD;  // bits of sqrt(1/2)
  Longs bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const Longs exponent = (bits - kHalfRoot) >> 52;
  bits -= exponent << 52;
  Doubles mantissa;
  std::memcpy(&mantissa, &bits, sizeof(bits));
  const Doubles s = (mantissa - 1.0) / (mantissa + 1.0), z = s * s;
  Doubles series = z * (1.0 / 21) + 1.0 / 19;
  series = series * z + 1.0 / 17;
  series = series * z + 1.0 / 15;
  series = series * z + 1.0 / 13;
  series = series * z + 1.0 / 11;
  series = series * z + 1.0 / 9;
  series = series * z + 1.0 / 7;
  series = series * z + 1.0 / 5;
  series = series * z + 1.0 / 3;
  const Doubles tail = s * z * series;
  value = __builtin_convertvector(exponent, Doubles) * 0.693147180559945309417 + 2.0 * (s + tail);
}

#if defined(__x86_64__)
template <typename Pass>
UBIQUE_MAP_AVX512 void run_avx512(Pass& pass) {
  pass();
}
template <typename Pass>
UBIQUE_MAP_AVX2 void run_avx2(Pass& pass) {
  pass();
}
#endif

/// Calls a pass compiled for the widest vectors of this processor. Its operator() must be
/// UBIQUE_MAP_INLINE, or it stays compiled for the narrowest.
template <typename Pass>
void run(Pass& pass) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    return run_avx512(pass);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return run_avx2(pass);
#endif
  pass();
}

}  // namespace ubique::msinet::lanes
