// SPDX-License-Identifier: Apache-2.0
// SwiGLU and post-norm, each in one pass over memory: silu(gate) * up and its gradient; the RMS norm
// of x + branch along the last axis (a warp per row) or the middle one (a block per sample and slab
// of channels), and its gradient. Sums are in f32.
#include "values.cuh"

__device__ inline long long first_vector() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline long long stride() { return static_cast<long long>(gridDim.x) * blockDim.x; }

__device__ inline float sigmoid(float x) { return __fdividef(1.f, 1.f + __expf(-x)); }

// Each row of x has `vectors` vectors of gates, then as many of up values; y has `vectors` per row.
extern "C" __global__ void swiglu(const Vector* x, Vector* y, long long rows, long long vectors) {
  for (long long i = first_vector(); i < rows * vectors; i += stride()) {
    const Vector* gates = x + i + i / vectors * vectors;
    float gate[kLanes], up[kLanes];
    unpack(gates[0], gate);
    unpack(gates[vectors], up);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) up[lane] *= gate[lane] * sigmoid(gate[lane]);
    y[i] = pack(up);
  }
}

extern "C" __global__ void swiglu_backward(const Vector* gradient, const Vector* x, Vector* of_x,
                                           Vector* y, long long rows, long long vectors) {
  for (long long i = first_vector(); i < rows * vectors; i += stride()) {
    const long long place = i + i / vectors * vectors;
    float gate[kLanes], up[kLanes], of_y[kLanes], of_gate[kLanes];
    unpack(x[place], gate);
    unpack(x[place + vectors], up);
    unpack(gradient[i], of_y);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      const float open = sigmoid(gate[lane]), value = gate[lane] * open;
      of_gate[lane] = of_y[lane] * up[lane] * (open + value * (1.f - open));
      of_y[lane] *= value;
      up[lane] *= value;
    }
    of_x[place] = pack(of_gate);
    of_x[place + vectors] = pack(of_y);
    y[i] = pack(up);
  }
}

__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
  return value;
}

// Along the last axis. VECTORS: per row; each lane of a warp has every 32nd.
constexpr int kPerLane = (VECTORS + 31) / 32;

__device__ inline bool has(int k) { return k * 32 + (threadIdx.x & 31) < VECTORS; }

extern "C" __global__ void post_norm_last(const Vector* x, const Vector* branch, Vector* y,
                                          float* inverse, long long rows, float epsilon) {
  const int lane_id = threadIdx.x & 31;
  for (long long row = first_vector() / 32; row < rows; row += stride() / 32) {
    float sum[kPerLane][kLanes], squares = 0.f;
#pragma unroll
    for (int k = 0; k < kPerLane; ++k) {
      if (!has(k)) continue;
      const long long place = row * VECTORS + k * 32 + lane_id;
      float other[kLanes];
      unpack(x[place], sum[k]);
      unpack(branch[place], other);
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        sum[k][lane] += other[lane];
        squares += sum[k][lane] * sum[k][lane];
      }
    }
    const float root = rsqrtf(warp_sum(squares) / (VECTORS * kLanes) + epsilon);
#pragma unroll
    for (int k = 0; k < kPerLane; ++k) {
      if (!has(k)) continue;
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) sum[k][lane] *= root;
      y[row * VECTORS + k * 32 + lane_id] = pack(sum[k]);
    }
    if (lane_id == 0) inverse[row] = root;
  }
}

extern "C" __global__ void post_norm_last_backward(const Vector* gradient, const Vector* y,
                                                   const float* inverse, Vector* of_sum,
                                                   long long rows) {
  const int lane_id = threadIdx.x & 31;
  for (long long row = first_vector() / 32; row < rows; row += stride() / 32) {
    float of_y[kPerLane][kLanes], normed[kPerLane][kLanes], along = 0.f;
#pragma unroll
    for (int k = 0; k < kPerLane; ++k) {
      if (!has(k)) continue;
      const long long place = row * VECTORS + k * 32 + lane_id;
      unpack(gradient[place], of_y[k]);
      unpack(y[place], normed[k]);
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) along += of_y[k][lane] * normed[k][lane];
    }
    along = warp_sum(along) / (VECTORS * kLanes);
    const float root = inverse[row];
#pragma unroll
    for (int k = 0; k < kPerLane; ++k) {
      if (!has(k)) continue;
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        of_y[k][lane] = root * (of_y[k][lane] - normed[k][lane] * along);
      }
      of_sum[row * VECTORS + k * 32 + lane_id] = pack(of_y[k]);
    }
  }
}

// Along the middle axis of (samples, length, VECTORS). A block (sample, slab) has 32 vectors of
// channels, one per lane; its warps divide the length.
constexpr int kWarps = 8;
constexpr int kSlabs = (VECTORS + 31) / 32;

__device__ inline void block_sum(float (&values)[kLanes]) {
  __shared__ float shared[kWarps][32][kLanes + 1];
  const int lane_id = threadIdx.x & 31, warp = threadIdx.x / 32;
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) shared[warp][lane_id][lane] = values[lane];
  __syncthreads();
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) {
    values[lane] = 0.f;
    for (int other = 0; other < kWarps; ++other) values[lane] += shared[other][lane_id][lane];
  }
}

extern "C" __global__ void post_norm_middle(const Vector* x, const Vector* branch, Vector* y,
                                            float* inverse, int length, float epsilon) {
  const long long sample = blockIdx.x / kSlabs;
  const int vector = blockIdx.x % kSlabs * 32 + (threadIdx.x & 31), warp = threadIdx.x / 32;
  const bool mine = vector < VECTORS;
  const long long start = sample * length * VECTORS + vector;
  float squares[kLanes] = {};
  for (int row = warp; mine && row < length; row += kWarps) {
    float sum[kLanes], other[kLanes];
    unpack(x[start + row * VECTORS], sum);
    unpack(branch[start + row * VECTORS], other);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      sum[lane] += other[lane];
      squares[lane] += sum[lane] * sum[lane];
    }
  }
  block_sum(squares);
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) {
    squares[lane] = rsqrtf(squares[lane] / length + epsilon);
    if (mine && warp == 0) inverse[(sample * VECTORS + vector) * kLanes + lane] = squares[lane];
  }
  for (int row = warp; mine && row < length; row += kWarps) {
    float sum[kLanes], other[kLanes];
    unpack(x[start + row * VECTORS], sum);
    unpack(branch[start + row * VECTORS], other);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      sum[lane] = (sum[lane] + other[lane]) * squares[lane];
    }
    y[start + row * VECTORS] = pack(sum);
  }
}

extern "C" __global__ void post_norm_middle_backward(const Vector* gradient, const Vector* y,
                                                     const float* inverse, Vector* of_sum,
                                                     int length) {
  const long long sample = blockIdx.x / kSlabs;
  const int vector = blockIdx.x % kSlabs * 32 + (threadIdx.x & 31), warp = threadIdx.x / 32;
  const bool mine = vector < VECTORS;
  const long long start = sample * length * VECTORS + vector;
  float along[kLanes] = {};
  for (int row = warp; mine && row < length; row += kWarps) {
    float of_y[kLanes], normed[kLanes];
    unpack(gradient[start + row * VECTORS], of_y);
    unpack(y[start + row * VECTORS], normed);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) along[lane] += of_y[lane] * normed[lane];
  }
  block_sum(along);
  float root[kLanes];
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) {
    along[lane] /= length;
    root[lane] = mine ? inverse[(sample * VECTORS + vector) * kLanes + lane] : 0.f;
  }
  for (int row = warp; mine && row < length; row += kWarps) {
    float of_y[kLanes], normed[kLanes];
    unpack(gradient[start + row * VECTORS], of_y);
    unpack(y[start + row * VECTORS], normed);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      of_y[lane] = root[lane] * (of_y[lane] - normed[lane] * along[lane]);
    }
    of_sum[start + row * VECTORS] = pack(of_y);
  }
}
