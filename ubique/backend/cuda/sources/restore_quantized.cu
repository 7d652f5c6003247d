// SPDX-License-Identifier: Apache-2.0
// Weights in 8 or 4 bits back into floats, with the bits of the plain ops: each value is one
// product in f32, rounded once. FORMAT: 0 int8, 1 int4, 2 NF4 (kernels/quant/quantized_weight.h).
#include "values.cuh"

constexpr int kThreads = 256;

// Of finite numbers; without the instruction, so that tests can run it on the host.
__device__ inline float scale_of(unsigned short bits) {
  const float size = __uint_as_float((bits & 0x7fffu) << 13) * 5.192296858534828e33f;  // 2^112
  return (bits & 0x8000u) != 0 ? -size : size;
}

// Scales of NF4: one f32 for each 64 values; or indices into `code`, times a factor for each 256
// of them, plus a mean.
struct Nf4Scales {
  const float* plain;  // or null
  const unsigned char* indices;
  const float *code, *factors, *mean;
};

__device__ inline float nf4_scale(const Nf4Scales& scales, long long block) {
  if (scales.plain != nullptr) return scales.plain[block];
  const float decoded = scales.code[scales.indices[block]];
  return __fadd_rn(__fmul_rn(decoded, scales.factors[block / 256]), *scales.mean);
}

// kLanes values, from the value `first` on, a multiple of kLanes.
__device__ inline void restore(const unsigned char* packed, const unsigned short* scales,
                               const Nf4Scales& nf4, const float* table, long long first,
                               float (&values)[kLanes]) {
  const float scale = FORMAT == 2 ? nf4_scale(nf4, first / 64) : scale_of(scales[first / 32]);
  const int place = static_cast<int>(first % 32);
#pragma unroll
  for (int i = 0; i < kLanes; ++i) {
    float value = 0.f;
    if (FORMAT == 0) {
      value = static_cast<float>(static_cast<signed char>(packed[first + i]));
    } else if (FORMAT == 1) {
      // 16 bytes of a group: the low halves are its first 16 values, the high ones the others.
      const int byte = packed[first / 32 * 16 + place % 16 + i];
      value = static_cast<float>((place < 16 ? byte & 15 : byte >> 4) - 8);
    } else {
      const int byte = packed[first / 2 + i / 2];
      value = table[i % 2 == 0 ? byte >> 4 : byte & 15];
    }
    values[i] = value * scale;
  }
}

// `pairs` (256, 2): the two values of each byte of NF4, of which 16 are kept: distinct ones lie in
// distinct banks of shared memory.
extern "C" __global__ void restore_quantized(const unsigned char* packed,
                                             const unsigned short* scales, Nf4Scales nf4,
                                             const float* pairs, Vector* out, long long vectors) {
  extern __shared__ __align__(16) unsigned char memory[];
  float* values_of_nf4 = reinterpret_cast<float*>(memory);
  if (FORMAT == 2) {
    if (threadIdx.x < 16) values_of_nf4[threadIdx.x] = pairs[2 * threadIdx.x + 1];
    __syncthreads();
  }
  const long long stride = static_cast<long long>(gridDim.x) * kThreads;
  for (long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; i < vectors;
       i += stride) {
    float values[kLanes];
    restore(packed, scales, nf4, values_of_nf4, i * kLanes, values);
    out[i] = pack(values);
  }
}
