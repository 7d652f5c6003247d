// SPDX-License-Identifier: Apache-2.0
// Cross-entropy of rows of logits and its gradient in their place. A block per row. With KEPT it
// reads the row once and keeps it in shared memory, for rows that fit there: read again from the
// device's memory it would not be in the cache any more. Each thread meets only vectors of its own.
#include "values.cuh"

constexpr int kThreads = 512, kWarps = kThreads / 32, kAtOnce = 4;
constexpr float kLowest = -3.4e38f;

struct Peak {
  float largest, sum;  // the sum of exp(x - largest)
  int index;           // of the first largest
};

__device__ inline Peak joined(const Peak& a, const Peak& b) {
  const bool first = a.largest > b.largest || (a.largest == b.largest && a.index < b.index);
  const Peak& top = first ? a : b;
  const Peak& low = first ? b : a;
  return {top.largest, top.sum + low.sum * __expf(low.largest - top.largest), top.index};
}

__device__ inline Peak warp_joined(Peak mine) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    const Peak other = {__shfl_xor_sync(~0u, mine.largest, offset),
                        __shfl_xor_sync(~0u, mine.sum, offset),
                        __shfl_xor_sync(~0u, mine.index, offset)};
    mine = joined(mine, other);
  }
  return mine;
}

// Raises the peak to the largest of a vector, which begins at `index`. The sum is not touched.
__device__ inline void raise(Peak& peak, const Vector& vector, int index) {
  float x[kLanes];
  unpack(vector, x);
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) {
    if (x[lane] > peak.largest) peak.largest = x[lane], peak.index = index + lane;
  }
}

// The largest of this thread's vectors; those of `kAtOnce` turns are on their way together.
__device__ inline Peak largest_of(const Vector* row, Vector* kept, int vectors) {
  Peak mine = {kLowest, 0.f, 0x7fffffff};
  for (int first = threadIdx.x; first < vectors; first += kAtOnce * kThreads) {
    Vector in[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (first + k * kThreads < vectors) in[k] = row[first + k * kThreads];
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int i = first + k * kThreads;
      if (i >= vectors) continue;
      if (KEPT) kept[i] = in[k];
      raise(mine, in[k], i * kLanes);
    }
  }
  return mine;
}

__device__ inline Peak peak_of(const Vector* row, Vector* kept, int vectors) {
  Peak mine = largest_of(row, kept, vectors);
  for (int i = threadIdx.x; i < vectors; i += kThreads) {
    float x[kLanes], sum = 0.f;
    unpack(kept[i], x);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) sum += __expf(x[lane] - mine.largest);
    mine.sum += sum;
  }
  __shared__ Peak warps[kWarps];
  mine = warp_joined(mine);
  const int lane_id = threadIdx.x & 31;
  if (lane_id == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  return warp_joined(lane_id < kWarps ? warps[lane_id] : Peak{kLowest, 0.f, 0x7fffffff});
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    token_gradient(Vector* logits, const long long* labels, float* loss, float* correct,
                   int vectors, int write) {
  const long long at = blockIdx.x;
  Vector* row = logits + at * vectors;
  const long long label = labels[at];
  if (label < 0) {
    if (threadIdx.x == 0) loss[at] = correct[at] = 0.f;
    const float zeros[kLanes] = {};
    for (int i = threadIdx.x; write && i < vectors; i += kThreads) row[i] = pack(zeros);
    return;
  }
#if KEPT
  extern __shared__ Vector memory[];
  Vector* kept = memory;
#else
  Vector* kept = row;
#endif
  const Peak peak = peak_of(row, kept, vectors);
  if (threadIdx.x == 0) {
    float x[kLanes];
    unpack(kept[label / kLanes], x);
    float chosen = 0.f;
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      if (lane == label % kLanes) chosen = x[lane];
    }
    loss[at] = logf(peak.sum) + peak.largest - chosen;
    correct[at] = peak.index == label ? 1.f : 0.f;
  }
  if (!write) return;
  if (!KEPT) __syncthreads();  // the label's logit has been read
  const float scale = 1.f / peak.sum;
  for (int i = threadIdx.x; i < vectors; i += kThreads) {
    float x[kLanes];
    unpack(kept[i], x);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      x[lane] = __expf(x[lane] - peak.largest) * scale;
      if (i * kLanes + lane == label) x[lane] -= 1.f;
    }
    row[i] = pack(x);
  }
}
