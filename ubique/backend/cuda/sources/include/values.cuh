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
#if __CUDA_ARCH__ >= 800
  unsigned short rounded;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
  return rounded;
#else
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;  // rounding must keep NaN
  return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;     // to nearest, ties to even
#endif
}

#if SCALAR != 2
// Two values in 16 bits, the first in the lower half: one instruction from Ampere on.
__device__ inline unsigned pack_two(float low, float high) {
#if __CUDA_ARCH__ >= 800
  unsigned packed;
#if SCALAR == 1
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
#else
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
#endif
  return packed;
#elif SCALAR == 1
  return to_bfloat(low) | static_cast<unsigned>(to_bfloat(high)) << 16;
#else
  return to_half(low) | static_cast<unsigned>(to_half(high)) << 16;
#endif
}
#endif

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

__device__ inline void unpack(const Vector& packed, float (&values)[kLanes]) {
#if SCALAR == 2
  for (int i = 0; i < 4; ++i) values[i] = __uint_as_float(packed.words[i]);
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#if SCALAR == 0
    values[2 * i] = from_half(packed.words[i] & 0xffffu);
    values[2 * i + 1] = from_half(packed.words[i] >> 16);
#else
    values[2 * i] = __uint_as_float(packed.words[i] << 16);
    values[2 * i + 1] = __uint_as_float(packed.words[i] & 0xffff0000u);
#endif
  }
#endif
}

__device__ inline Vector pack(const float (&values)[kLanes]) {
  Vector packed;
#if SCALAR == 2
  for (int i = 0; i < 4; ++i) packed.words[i] = __float_as_uint(values[i]);
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) packed.words[i] = pack_two(values[2 * i], values[2 * i + 1]);
#endif
  return packed;
}
