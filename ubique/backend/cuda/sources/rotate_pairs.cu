// SPDX-License-Identifier: Apache-2.0
// Projections (tokens, heads, size) to heads (sample, head, position, size + ONES): neighbouring
// values are rotated in f32, RELU cuts at zero, ONES columns of 1 follow. PARTS: vectors per head.
// WIDE: results are f32.
#include "values.cuh"

#if WIDE
typedef float4 Out;
constexpr int kOutLanes = 4;
__device__ inline void put(Out* to, const float (&x)[kLanes]) {
  to[0] = make_float4(x[0], x[1], x[2], x[3]);
#if SCALAR != 2
  to[1] = make_float4(x[4], x[5], x[6], x[7]);
#endif
}
#else
typedef Vector Out;
constexpr int kOutLanes = kLanes;
__device__ inline void put(Out* to, const float (&x)[kLanes]) { to[0] = pack(x); }
#endif

constexpr int kOuts = kLanes / kOutLanes;  // output vectors of an input vector

// Not a rotation where the angles of a pair differ, as those of the released model do.
__device__ inline void turn(float (&x)[kLanes], const float* cos, const float* sin) {
#pragma unroll
  for (int i = 0; i < kLanes; i += 2) {
    const float a = x[i], b = x[i + 1];
    x[i] = a * cos[i] - b * sin[i];
    x[i + 1] = b * cos[i + 1] + a * sin[i + 1];
  }
}

extern "C" __global__ void rotate_pairs(const Vector* x, const float* cos, const float* sin, Out* y,
                                        long long tokens, int length, int heads) {
  const long long items = tokens * heads * PARTS;
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  constexpr int kRow = PARTS * kOuts + ONES / kOutLanes;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < items;
       i += stride) {
    const int part = i % PARTS, head = i / PARTS % heads;
    const long long token = i / PARTS / heads, sample = token / length;
    const int place = static_cast<int>(token % length);
    float values[kLanes];
    unpack(x[i], values);
    if (cos != nullptr) {
      const long long angle = (static_cast<long long>(place) * PARTS + part) * kLanes;
      turn(values, cos + angle, sin + angle);
    }
#if RELU
    // NaN stays: it must be seen.
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = values[lane] < 0.f ? 0.f : values[lane];
#endif
    Out* const row = y + ((sample * heads + head) * length + place) * kRow;
    put(row + part * kOuts, values);
    if (part > 0) continue;
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = 1.f;
    for (int column = 0; column < ONES / kLanes; ++column) {
      put(row + (PARTS + column) * kOuts, values);
    }
  }
}
