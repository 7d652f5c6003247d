// SPDX-License-Identifier: Apache-2.0
// SiLU, a convolution of three frames per channel, and one half times the SiLU of the other: x (B,
// T, 2N) to (B, T, N). A thread has one vector of channels in both halves and ROWS frames, whose
// neighbours it keeps, so that each value is read once. Sums are in f32.
#include "values.cuh"

__device__ inline float silu(float x) { return x / (1.f + __expf(-x)); }

// Taps and bias of a vector of channels; weights (channel, 3).
struct Taps {
  float weight[3][kLanes], bias[kLanes];
};

__device__ inline void load_taps(Taps& taps, const Vector* weight, const Vector* bias, int vector) {
  float packed[3 * kLanes];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    float values[kLanes];
    unpack(weight[3 * vector + i], values);
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) packed[i * kLanes + lane] = values[lane];
  }
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) {
#pragma unroll
    for (int tap = 0; tap < 3; ++tap) taps.weight[tap][lane] = packed[3 * lane + tap];
  }
  unpack(bias[vector], taps.bias);
}

// Frames t - 1, t and t + 1 of a vector of channels after SiLU.
struct Window {
  float at[3][kLanes];
};

__device__ inline void load_frame(float (&values)[kLanes], const Vector* column, int frame,
                                  int frames, int vectors) {
  const bool inside = frame >= 0 && frame < frames;
  if (inside) unpack(column[static_cast<long long>(frame) * 2 * vectors], values);
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) values[lane] = inside ? silu(values[lane]) : 0.f;
}

__device__ inline void advance(Window& window, const Vector* column, int next, int frames,
                               int vectors) {
#pragma unroll
  for (int lane = 0; lane < kLanes; ++lane) {
    window.at[0][lane] = window.at[1][lane];
    window.at[1][lane] = window.at[2][lane];
  }
  load_frame(window.at[2], column, next, frames, vectors);
}

__device__ inline void begin(Window& window, const Vector* column, int first, int frames,
                             int vectors) {
  load_frame(window.at[1], column, first - 1, frames, vectors);
  load_frame(window.at[2], column, first, frames, vectors);
}

__device__ inline float convolved(const Window& window, const Taps& taps, int lane) {
  return taps.bias[lane] + window.at[0][lane] * taps.weight[0][lane] +
         window.at[1][lane] * taps.weight[1][lane] + window.at[2][lane] * taps.weight[2][lane];
}

// `vectors`: of N channels.
extern "C" __global__ void gated_conv(const Vector* x, const Vector* weight, const Vector* bias,
                                      Vector* y, long long items, int frames, int vectors) {
  const int runs = (frames + ROWS - 1) / ROWS;
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < items;
       i += stride) {
    const int vector = static_cast<int>(i % vectors);
    const int first = static_cast<int>(i / vectors % runs) * ROWS;
    const long long sample = i / vectors / runs;
    const Vector* const column = x + sample * frames * 2 * vectors + vector;
    Taps of_value, of_gate;
    load_taps(of_value, weight, bias, vector);
    load_taps(of_gate, weight, bias, vectors + vector);
    Window value, gate;
    begin(value, column, first, frames, vectors);
    begin(gate, column + vectors, first, frames, vectors);
    const int last = first + ROWS < frames ? first + ROWS : frames;
    for (int frame = first; frame < last; ++frame) {
      advance(value, column, frame + 1, frames, vectors);
      advance(gate, column + vectors, frame + 1, frames, vectors);
      float result[kLanes];
#pragma unroll
      for (int lane = 0; lane < kLanes; ++lane) {
        result[lane] = convolved(value, of_value, lane) * silu(convolved(gate, of_gate, lane));
      }
      y[(sample * frames + frame) * vectors + vector] = pack(result);
    }
  }
}
