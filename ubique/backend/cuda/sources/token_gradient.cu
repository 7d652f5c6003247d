// SPDX-License-Identifier: Apache-2.0
// Cross-entropy of rows of logits and its gradient in their place. A block per row: the first sweep
// finds maximum, sum of exponentials and the largest logit's index, the second one, which finds the
// row in the cache, writes.
#include "values.cuh"

constexpr int kThreads = 512, kWarps = kThreads / 32;
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

__device__ inline Peak peak_of(const Vector* row, int vectors) {
  const Peak kNothing = {kLowest, 0.f, 0x7fffffff};
  Peak mine = kNothing;
  for (int i = threadIdx.x; i < vectors; i += kThreads) {
    float x[kLanes];
    unpack(row[i], x);
    Peak here = {x[0], 0.f, i * kLanes};
#pragma unroll
    for (int lane = 1; lane < kLanes; ++lane) {
      if (x[lane] > here.largest) here.largest = x[lane], here.index = i * kLanes + lane;
    }
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) here.sum += __expf(x[lane] - here.largest);
    mine = joined(mine, here);
  }
  __shared__ Peak warps[kWarps];
  mine = warp_joined(mine);
  const int lane_id = threadIdx.x & 31;
  if (lane_id == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  return warp_joined(lane_id < kWarps ? warps[lane_id] : kNothing);
}

extern "C" __global__ void token_gradient(Vector* logits, const long long* labels, float* loss,
                                          float* correct, int vectors, int write) {
  const long long at = blockIdx.x;
  Vector* row = logits + at * vectors;
  const long long label = labels[at];
  if (label < 0) {
    if (threadIdx.x == 0) loss[at] = correct[at] = 0.f;
    const float zeros[kLanes] = {};
    for (int i = threadIdx.x; write && i < vectors; i += kThreads) row[i] = pack(zeros);
    return;
  }
  const Peak peak = peak_of(row, vectors);
  if (threadIdx.x == 0) {
    float x[kLanes];
    unpack(row[label / kLanes], x);
    float chosen = 0.f;
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      if (lane == label % kLanes) chosen = x[lane];
    }
    loss[at] = logf(peak.sum) + peak.largest - chosen;
    correct[at] = peak.index == label ? 1.f : 0.f;
  }
  if (!write) return;
  __syncthreads();  // the label's logit has been read
  const float scale = 1.f / peak.sum;
  for (int i = threadIdx.x; i < vectors; i += kThreads) {
    float x[kLanes];
    unpack(row[i], x);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      x[lane] = __expf(x[lane] - peak.largest) * scale;
      if (i * kLanes + lane == label) x[lane] -= 1.f;
    }
    row[i] = pack(x);
  }
}
