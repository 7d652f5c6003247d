// SPDX-License-Identifier: Apache-2.0
// CUDA's words for the host, and the functions of decode_instructions.cuh, for kernels in bf16
// whose sources are included inside namespaces of this namespace.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/backend/cuda/emulated/threads.h"

// NOLINTBEGIN
#define SCALAR 1
#define __device__
#define __global__
#define __shared__
#define __launch_bounds__(...)
#define __align__(bytes)
#define threadIdx ubique::test::emulated::thread_index
#define blockIdx ubique::test::emulated::block_index
#define gridDim ubique::test::emulated::grid_size

namespace ubique::test::emulated {

struct alignas(16) float4 {
  float x, y, z, w;
};

template <typename To, typename From>
To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}
inline unsigned __float_as_uint(float x) { return same_bits<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return same_bits<float>(x); }
inline int __float_as_int(float x) { return same_bits<int>(x); }
inline float __int_as_float(int x) { return same_bits<float>(x); }
inline float __expf(float x) { return std::exp(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }

inline void __syncthreads() { wait_for_block(); }
inline void __syncwarp() { wait_for_warp(); }
inline void __threadfence() {}
inline float __shfl_xor_sync(unsigned, float value, unsigned other) {
  *shown(lane_now()) = __float_as_uint(value);
  wait_for_warp();
  const float found = __uint_as_float(*shown(lane_now() ^ other));
  wait_for_warp();
  return found;
}
inline int __shfl_xor_sync(unsigned mask, int value, unsigned other) {
  return __float_as_int(__shfl_xor_sync(mask, __int_as_float(value), other));
}
inline float __shfl_sync(unsigned, float value, unsigned from) {
  *shown(lane_now()) = __float_as_uint(value);
  wait_for_warp();
  const float found = __uint_as_float(*shown(from));
  wait_for_warp();
  return found;
}
inline unsigned atomicAdd(unsigned* to, unsigned value) {
  const unsigned before = *to;
  *to += value;
  return before;
}

#include "ubique/backend/cuda/sources/include/values.cuh"

inline void wait_for_others() {}
inline void let_others_start() {}
inline Vector stream(const Vector* from) { return *from; }
inline Vector fetch(const Vector* from) { return *from; }
inline Scalar fetch(const Scalar* from) { return *from; }
inline float fetch(const float* from) { return *from; }

inline void copy_later(Vector* to, const Vector* from) { *to = *from; }
inline void end_copies() {}
template <int>
void wait_for_copies() {}

// One of the two bf16 values of a word.
inline float half_of(unsigned word, unsigned which) {
  return __uint_as_float(which == 0 ? word << 16 : word & 0xffff0000u);
}
// By the layout of mma.m16n8k16 as NVIDIA documents it: "a" row-major, "b" by columns.
inline void multiply(float (&sum)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                     unsigned b0, unsigned b1) {
  const unsigned words[] = {a0, a1, a2, a3, b0, b1};
  std::memcpy(shown(lane_now()), words, sizeof(words));
  wait_for_warp();
  const auto a = [](unsigned row, unsigned k) {
    return half_of(shown(row % 8 * 4 + k % 8 / 2)[row / 8 + k / 8 * 2], k % 2);
  };
  const auto b = [](unsigned k, unsigned column) {
    return half_of(shown(column * 4 + k % 8 / 2)[4 + k / 8], k % 2);
  };
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane_now() / 4 + i / 2 * 8, column = lane_now() % 4 * 2 + i % 2;
    for (unsigned k = 0; k < 16; ++k) sum[i] += a(row, k) * b(k, column);
  }
  wait_for_warp();
}

#include "ubique/backend/cuda/sources/include/decode.cuh"

/// Repeatable values up to `size`, as bf16.
inline std::vector<Scalar> noise(std::size_t count, unsigned seed, float size = 1) {
  std::vector<Scalar> values(count);
  unsigned state = seed * 2654435761U + 12345U;
  for (auto& value : values) {
    state = state * 1664525U + 1013904223U;
    value = to_scalar(size * (static_cast<float>(state >> 8) / 8388608.0F - 1));
  }
  return values;
}

inline std::vector<float> widened(const std::vector<Scalar>& values) {
  std::vector<float> wider;
  for (const auto value : values) wider.push_back(to_float(value));
  return wider;
}

}  // namespace ubique::test::emulated
// NOLINTEND
