// SPDX-License-Identifier: Apache-2.0
// GELU (the approximation by tanh) of x + bias; and its gradient, with the sums of its columns,
// which are the bias's gradient, in one pass. Four rows are on their way at a time.
#include "column_sums.cuh"

constexpr int kAtOnce = 4;

// x * s is GELU and `slope` its derivative, where s = (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)).
struct Gate {
  float share, slope;
};
__device__ inline Gate gate_of(float x) {
  constexpr float kTwice = 1.5957691216f, kCubic = 0.044715f;  // 2 * sqrt(2 / pi)
  const float square = x * x;
  const float share = __fdividef(1.f, 1.f + __expf(-kTwice * x * (1.f + kCubic * square)));
  return {share, share + x * share * (1.f - share) * kTwice * (1.f + 3.f * kCubic * square)};
}

__device__ inline void load_bias(const float* bias, int vector, float (&values)[kLanes]) {
#pragma unroll
  for (int i = 0; i < kLanes; ++i) values[i] = bias == nullptr ? 0.f : bias[vector * kLanes + i];
}

extern "C" __global__ void __launch_bounds__(kTileThreads, 4)
    gelu(const Vector* x, const float* bias, Vector* y, long long rows, int vectors) {
  const Tile tile = tile_of(vectors);
  if (tile.vector >= vectors) return;
  float shift[kLanes];
  load_bias(bias, tile.vector, shift);
  for (long long first = tile.row; first < rows; first += kAtOnce * tile.by) {
    Vector in[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const long long row = first + i * tile.by;
      if (row < rows) in[i] = x[row * vectors + tile.vector];
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const long long row = first + i * tile.by;
      if (row >= rows) continue;
      float values[kLanes];
      unpack(in[i], values);
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        values[lane] += shift[lane];
        values[lane] *= gate_of(values[lane]).share;
      }
      y[row * vectors + tile.vector] = pack(values);
    }
  }
}

// The gradient of x goes to `of_x`, which may be `of_y`; GELU itself, if `y` is given, to `y`,
// which may be `x`: for who has not kept it.
extern "C" __global__ void __launch_bounds__(kTileThreads, 3)
    gelu_backward(const Vector* of_y, const Vector* x, const float* bias, Vector* of_x, Vector* y,
                  float* partial, long long rows, int vectors) {
  const Tile tile = tile_of(vectors);
  const bool inside = tile.vector < vectors;
  float shift[kLanes] = {}, sums[kLanes] = {};
  if (inside) load_bias(bias, tile.vector, shift);
  for (long long first = tile.row; inside && first < rows; first += kAtOnce * tile.by) {
    Vector in[kAtOnce], incoming[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const long long row = first + i * tile.by;
      if (row >= rows) continue;
      in[i] = x[row * vectors + tile.vector];
      incoming[i] = of_y[row * vectors + tile.vector];
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const long long row = first + i * tile.by;
      if (row >= rows) continue;
      float values[kLanes], gradient[kLanes];
      unpack(in[i], values);
      unpack(incoming[i], gradient);
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        values[lane] += shift[lane];
        const Gate gate = gate_of(values[lane]);
        values[lane] *= gate.share;
        gradient[lane] *= gate.slope;
        sums[lane] += gradient[lane];
      }
      of_x[row * vectors + tile.vector] = pack(gradient);
      if (y != nullptr) y[row * vectors + tile.vector] = pack(values);
    }
  }
  store_sums(sums, tile, vectors, partial);
}
