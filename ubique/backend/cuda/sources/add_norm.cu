// SPDX-License-Identifier: Apache-2.0
// residual + branch and its layer or RMS norm, and the gradients of both, in one pass over memory.
// WARPS warps share a row of WIDTH values; a block of 8 warps has 8 / WARPS rows at a time. SCALAR
// is the dtype of branch and norm, WIDE_RESIDUAL tells whether the residual stream is f32 or SCALAR.
// CENTER: layer norm. Sums are in f32.
#include "values.cuh"

constexpr int kThreads = 256, kRows = 8 / WARPS, kRowThreads = 32 * WARPS;
constexpr int kVectors = WIDTH / kLanes, kPerThread = (kVectors + kRowThreads - 1) / kRowThreads;
static_assert(kLanes == 8 && WIDTH % 8 == 0, "vectors of eight values");

#if WIDE_RESIDUAL
typedef float4 Half;
__device__ inline void load(const Half* row, int vector, float (&x)[kLanes]) {
  const float4 low = row[2 * vector], high = row[2 * vector + 1];
  x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
  x[4] = high.x, x[5] = high.y, x[6] = high.z, x[7] = high.w;
}
__device__ inline void store(Half* row, int vector, const float (&x)[kLanes]) {
  row[2 * vector] = make_float4(x[0], x[1], x[2], x[3]);
  row[2 * vector + 1] = make_float4(x[4], x[5], x[6], x[7]);
}
constexpr int kPieces = 2;  // of the residual stream, per vector
#else
typedef Vector Half;
__device__ inline void load(const Half* row, int vector, float (&x)[kLanes]) {
  unpack(row[vector], x);
}
__device__ inline void store(Half* row, int vector, const float (&x)[kLanes]) {
  row[vector] = pack(x);
}
constexpr int kPieces = 1;
#endif

__device__ inline void load_floats(const float* values, int vector, float (&x)[kLanes]) {
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) x[lane] = values[vector * kLanes + lane];
}

// The sum over the threads of a row. All threads of the block call it together.
__device__ inline float row_sum(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
#if WARPS > 1
  __shared__ float warps[8];
  const int warp = threadIdx.x / 32, first = warp / WARPS * WARPS;
  __syncthreads();  // the sums of the call before have been read
  if ((threadIdx.x & 31) == 0) warps[warp] = value;
  __syncthreads();
  value = 0.f;
#pragma unroll
  for (int i = 0; i < WARPS; ++i) value += warps[first + i];
#endif
  return value;
}

// The vector of this thread in turn k, or -1.
__device__ inline int vector_of(int k) {
  const int vector = k * kRowThreads + threadIdx.x % kRowThreads;
  return vector < kVectors ? vector : -1;
}

extern "C" __global__ void add_norm(const Half* residual, const Vector* branch, const float* weight,
                                    const float* bias, Half* sum, Vector* normed, float* statistics,
                                    long long rows, float epsilon) {
  const int in_block = threadIdx.x / kRowThreads;
  for (long long base = static_cast<long long>(blockIdx.x) * kRows; base < rows;
       base += static_cast<long long>(gridDim.x) * kRows) {
    const long long row = base + in_block;
    const bool mine = row < rows;
    float x[kPerThread][kLanes], total = 0.f;
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      const int vector = vector_of(k);
      if (!mine || vector < 0) continue;
      load(residual + row * kVectors * kPieces, vector, x[k]);
      if (branch != nullptr) {
        float added[kLanes];
        unpack(branch[row * kVectors + vector], added);
#pragma unroll
        for (int lane = 0; lane < kLanes; ++lane) x[k][lane] += added[lane];
        store(sum + row * kVectors * kPieces, vector, x[k]);
      }
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) total += x[k][lane];
    }
    const float mean = CENTER ? row_sum(total) / WIDTH : 0.f;
    float squares = 0.f;
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      if (!mine || vector_of(k) < 0) continue;
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        squares += (x[k][lane] - mean) * (x[k][lane] - mean);
      }
    }
    const float inverse = rsqrtf(row_sum(squares) / WIDTH + epsilon);
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      const int vector = vector_of(k);
      if (!mine || vector < 0) continue;
      float scale[kLanes], shift[kLanes] = {};
      load_floats(weight, vector, scale);
      if (bias != nullptr) load_floats(bias, vector, shift);
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        x[k][lane] = (x[k][lane] - mean) * inverse * scale[lane] + shift[lane];
      }
      normed[row * kVectors + vector] = pack(x[k]);
    }
    if (mine && threadIdx.x % kRowThreads == 0) {
      statistics[2 * row] = mean;
      statistics[2 * row + 1] = inverse;
    }
  }
}

// Adds up what the groups of a block have, one after the other: the same order every time.
__device__ inline void add_groups(const float (&values)[kPerThread][kLanes], float* shared,
                                  float* result) {
  const int in_block = threadIdx.x / kRowThreads;
  for (int group = 0; group < kRows; ++group) {
    __syncthreads();
    if (in_block != group) continue;
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      const int vector = vector_of(k);
      if (vector < 0) continue;
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        float& all = shared[vector * kLanes + lane];
        all = group == 0 ? values[k][lane] : all + values[k][lane];
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < WIDTH; i += kThreads) result[i] = shared[i];
}

// `partial` (gridDim.x, 2, WIDTH): each block's share of the gradients of weight and bias, or null.
extern "C" __global__ void __launch_bounds__(kThreads, 2) add_norm_backward(const Half* of_sum, const Vector* of_norm,
                                             const Half* sum, const float* weight,
                                             const float* statistics, Half* of_residual,
                                             Vector* of_branch, float* partial, long long rows) {
  const int in_block = threadIdx.x / kRowThreads;
  float of_weight[kPerThread][kLanes] = {}, of_bias[kPerThread][kLanes] = {};
  for (long long base = static_cast<long long>(blockIdx.x) * kRows; base < rows;
       base += static_cast<long long>(gridDim.x) * kRows) {
    const long long row = base + in_block;
    const bool mine = row < rows;
    const float mean = mine ? statistics[2 * row] : 0.f;
    const float inverse = mine ? statistics[2 * row + 1] : 0.f;
    float x[kPerThread][kLanes], g[kPerThread][kLanes], along = 0.f, total = 0.f;
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      const int vector = vector_of(k);
      if (!mine || vector < 0) continue;
      float scale[kLanes];
      load(sum + row * kVectors * kPieces, vector, x[k]);
      unpack(of_norm[row * kVectors + vector], g[k]);
      load_floats(weight, vector, scale);
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        x[k][lane] = (x[k][lane] - mean) * inverse;
        of_weight[k][lane] += g[k][lane] * x[k][lane];
        of_bias[k][lane] += g[k][lane];
        g[k][lane] *= scale[lane];
        along += g[k][lane] * x[k][lane];
        total += g[k][lane];
      }
    }
    along = row_sum(along) / WIDTH;
    total = CENTER ? row_sum(total) / WIDTH : 0.f;
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      const int vector = vector_of(k);
      if (!mine || vector < 0) continue;
      float result[kLanes] = {};
      if (of_sum != nullptr) load(of_sum + row * kVectors * kPieces, vector, result);
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        result[lane] += inverse * (g[k][lane] - total - x[k][lane] * along);
      }
      store(of_residual + row * kVectors * kPieces, vector, result);
      if (of_branch != nullptr) of_branch[row * kVectors + vector] = pack(result);
    }
  }
  if (partial == nullptr) return;
  __shared__ float shared[WIDTH];
  float* mine = partial + static_cast<long long>(blockIdx.x) * 2 * WIDTH;
  add_groups(of_weight, shared, mine);
  add_groups(of_bias, shared, mine + WIDTH);
}
