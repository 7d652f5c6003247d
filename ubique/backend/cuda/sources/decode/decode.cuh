// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels of a decoding step: a few rows at a time, in 16 bits, with sums in f32.
#pragma once
#ifdef __CUDACC__  // tests run these kernels on the host, with functions of their own
#include "decode_instructions.cuh"
#endif

__device__ inline float to_float(Scalar bits) {
#if SCALAR == 1
  return __uint_as_float(static_cast<unsigned>(bits) << 16);
#else
  return from_half(bits);
#endif
}

__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
  return value;
}

__device__ inline float warp_max(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(~0u, value, offset));
  }
  return value;
}

// A logit with its place. Of equal ones the first counts, and one that is no number before all.
struct Best {
  float value;
  int place;
};

__device__ inline Best better(Best a, Best b) {
  const bool a_is_none = a.value != a.value, b_is_none = b.value != b.value;
  if (a_is_none != b_is_none) return a_is_none ? a : b;
  if (!a_is_none && a.value != b.value) return a.value > b.value ? a : b;
  return a.place < b.place ? a : b;
}
