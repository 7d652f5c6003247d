// SPDX-License-Identifier: Apache-2.0
// Loads and stores of 16-byte vectors, converted to and from f32. Includes no CUDA headers: NVRTC's
// built-ins suffice, so that kernels compile wherever there is a driver.
// SCALAR: 0 = f16, 1 = bf16, 2 = f32.
#pragma once

#if SCALAR == 2
constexpr int kLanes = 4;
#else
constexpr int kLanes = 8;
#endif

struct alignas(16) Vector {
  unsigned words[4];
};

__device__ inline float from_half(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

__device__ inline unsigned short to_half(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

__device__ inline unsigned short to_bfloat(float value) {
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;  // rounding must keep NaN
  return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;     // to nearest, ties to even
}

#if SCALAR == 2
typedef float Scalar;
__device__ inline Scalar to_scalar(float value) { return value; }
#elif SCALAR == 1
typedef unsigned short Scalar;
__device__ inline Scalar to_scalar(float value) { return to_bfloat(value); }
#else
typedef unsigned short Scalar;
__device__ inline Scalar to_scalar(float value) { return to_half(value); }
#endif

#if SCALAR != 2
// The two values of a word.
__device__ inline void unpack_word(unsigned word, float& first, float& second) {
#if SCALAR == 0
  first = from_half(word & 0xffffu);
  second = from_half(word >> 16);
#else
  first = __uint_as_float(word << 16);
  second = __uint_as_float(word & 0xffff0000u);
#endif
}

__device__ inline unsigned pack_word(float first, float second) {
#if SCALAR == 0
  return to_half(first) | unsigned(to_half(second)) << 16;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned word;  // the same bits as to_bfloat() gives, in one instruction
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  return word;
#else
  return to_bfloat(first) | unsigned(to_bfloat(second)) << 16;
#endif
}
#endif

__device__ inline void unpack(const Vector& packed, float (&values)[kLanes]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#if SCALAR == 2
    values[i] = __uint_as_float(packed.words[i]);
#else
    unpack_word(packed.words[i], values[2 * i], values[2 * i + 1]);
#endif
  }
}

__device__ inline Vector pack(const float (&values)[kLanes]) {
  Vector packed;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#if SCALAR == 2
    packed.words[i] = __float_as_uint(values[i]);
#else
    packed.words[i] = pack_word(values[2 * i], values[2 * i + 1]);
#endif
  }
  return packed;
}
