// SPDX-License-Identifier: Apache-2.0
// N numbers at once for the loops of a decoding step: the vector types of GCC and Clang, which
// compile for any processor. Everything is inlined into functions compiled for one instruction set.
#pragma once

#include <cstdint>
#include <cstring>

#define UBIQUE_LANES_INLINE [[gnu::always_inline]] inline

namespace ubique::kernels::lanes {

/// N lanes, with the loads and sums that a dot product needs.
template <int N>
struct Lanes {
  typedef float Floats __attribute__((vector_size(N * sizeof(float))));
  typedef std::uint32_t Bits __attribute__((vector_size(N * sizeof(float))));
  typedef std::uint16_t Halves __attribute__((vector_size(N * sizeof(std::uint16_t))));
  static constexpr int kCount = N;
};

template <int N>
UBIQUE_LANES_INLINE void get(typename Lanes<N>::Floats& value, const float* from) {
  std::memcpy(&value, from, sizeof(value));
}

/// bf16 is the upper half of f32.
template <int N>
UBIQUE_LANES_INLINE void get(typename Lanes<N>::Floats& value, const std::uint16_t* from) {
  typename Lanes<N>::Halves halves;
  std::memcpy(&halves, from, sizeof(halves));
  const auto bits = __builtin_convertvector(halves, typename Lanes<N>::Bits) << 16;
  std::memcpy(&value, &bits, sizeof(value));
}

template <int N>
UBIQUE_LANES_INLINE void put(float* to, const typename Lanes<N>::Floats& value) {
  std::memcpy(to, &value, sizeof(value));
}

UBIQUE_LANES_INLINE float widened(float value) { return value; }
UBIQUE_LANES_INLINE float widened(std::uint16_t value) {
  const auto bits = static_cast<std::uint32_t>(value) << 16U;
  float wide;
  std::memcpy(&wide, &bits, sizeof(wide));
  return wide;
}

/// The sum of all lanes, halves first.
template <int N>
UBIQUE_LANES_INLINE float sum_of(const typename Lanes<N>::Floats& value) {
  if constexpr (N == 4) {
    return (value[0] + value[2]) + (value[1] + value[3]);
  } else {
    typename Lanes<N / 2>::Floats halves[2];
    std::memcpy(halves, &value, sizeof(value));
    return sum_of<N / 2>(halves[0] + halves[1]);
  }
}

/// e to the power of x, correct to about two roundings; 0 below the smallest normal number.
template <int N>
UBIQUE_LANES_INLINE void exponentials(typename Lanes<N>::Floats& x) {
  using Floats = typename Lanes<N>::Floats;
  using Bits = typename Lanes<N>::Bits;
  const Floats least = Floats{} - 87.3F, most = Floats{} + 88.3F;
  const auto tiny = x < least;
  x = x > most ? most : x;  // a NaN stays one
  x = tiny ? least : x;
  const Floats shift = Floats{} + 12582912.0F;  // 1.5·2^23: rounds to an integer in the low bits
  const Floats shifted = x * 1.44269504F + shift;
  const Floats power = shifted - shift;
  const Floats rest = (x - power * 0.693359375F) - power * -2.12194440e-4F;
  Floats sum = rest * 1.9875691500e-4F + 1.3981999507e-3F;
  sum = sum * rest + 8.3334519073e-3F;
  sum = sum * rest + 4.1665795894e-2F;
  sum = sum * rest + 1.6666665459e-1F;
  sum = sum * rest + 5.0000001201e-1F;
  sum = sum * rest * rest + rest + 1.0F;
  Bits bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits + 127) << 23;
  Floats scale;
  std::memcpy(&scale, &bits, sizeof(scale));
  x = tiny ? Floats{} : sum * scale;
}

}  // namespace ubique::kernels::lanes
