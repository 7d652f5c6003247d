// SPDX-License-Identifier: Apache-2.0
// Backward of attention for short sequences in one kernel (attend.cuh). It needs only the inputs of
// the forward pass: attention weights are recomputed, and the gradients of queries and keys are
// rotated back before they are written. From sm_80 on.
#include "attend.cuh"

// Bytes per row of scores: an odd number of vectors, so that eight rows lie in different banks.
constexpr unsigned kScoreBytes = (kBlocks / 2 * 2 + 1) * 16;
constexpr unsigned kScoresBytes = kRows * kScoreBytes;
constexpr int kTogether = LENGTH <= 120 ? 2 : 1;  // blocks per multiprocessor; limited by shared memory

// Stages two words of 8 columns of a warp's positions in shared memory.
__device__ inline void stage(unsigned strip, int column, unsigned upper, unsigned lower, int lane) {
  store_word(strip + place_of(lane / 4, column) + lane % 4 * 4, upper);
  store_word(strip + place_of(lane / 4 + 8, column) + lane % 4 * 4, lower);
}
// Writes the staged strip to global memory in whole lines.
__device__ inline void write_out(Vector* to, unsigned strip, int first, int lane) {
  __syncwarp();
#pragma unroll
  for (int i = 0; i < 16 * kParts / 32; ++i) {
    const int row = i * (32 / kParts) + lane / kParts, part = lane % kParts;
    if (first + row < LENGTH) {
      to[(first + row) * kToken + part] = load_vector(strip + place_of(row, part));
    }
  }
}

// Cosines and sines of a lane's part of the warp's 16 positions.
struct Angles {
  float2 cos[2][HEAD / 16], sin[2][HEAD / 16];
};
__device__ inline Angles angles_of(const float* cos, const float* sin, int row, int lane) {
  Angles angles;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int from = min(row + r * 8, LENGTH - 1) * HEAD + lane % 4 * 2;
#pragma unroll
    for (int n = 0; n < HEAD / 16; ++n) {
      angles.cos[r][n] = *reinterpret_cast<const float2*>(cos + from + n * 8);
      angles.sin[r][n] = *reinterpret_cast<const float2*>(sin + from + n * 8);
    }
  }
  return angles;
}
// Applies the inverse rotation to a gradient.
__device__ inline void turn_back(float (&sums)[HEAD / 8][4], const Angles& angles) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int n = 0; n < HEAD / 16; ++n) {
      const float2 c = angles.cos[r][n], s = angles.sin[r][n];
      float *const a = sums[n] + r * 2, *const b = sums[n + HEAD / 16] + r * 2;
      const float first = a[0], second = a[1];
      a[0] = first * c.x + b[0] * s.x;
      a[1] = second * c.y + b[1] * s.y;
      b[0] = b[0] * c.x - first * s.x;
      b[1] = b[1] * c.y - second * s.y;
    }
  }
}
// Writes a warp's 16 positions of the gradient of queries, keys or values.
__device__ inline void write_gradient(Vector* to, unsigned strip, const float (&sums)[HEAD / 8][4],
                                      float factor, int first, int lane) {
  __syncwarp();
#pragma unroll
  for (int n = 0; n < HEAD / 8; ++n) {
    stage(strip, n, pair_of(sums[n][0] * factor, sums[n][1] * factor),
          pair_of(sums[n][2] * factor, sums[n][3] * factor), lane);
  }
  write_out(to, strip, first, lane);
}

// sums += scores^T tile for the warp's 16 keys, over all queries.
__device__ inline void gather(float (&sums)[HEAD / 8][4], unsigned scores, unsigned tile) {
#pragma unroll
  for (int s = 0; s < kWarps; ++s) {
    unsigned a[4];
    load_transposed(a, scores + s * 16 * kScoreBytes);
    mix(sums, a, tile + s * kStripBytes);
  }
}

__device__ inline void keep_scores(unsigned to, const unsigned (&pairs)[kBlocks][2]) {
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
#pragma unroll
    for (int r = 0; r < 2; ++r) store_word(to + r * 8 * kScoreBytes + j * 16, pairs[j][r]);
  }
}

// Normalises powers to attention weights; positions past the end get 0.
__device__ inline void share_out(unsigned (&shares)[kBlocks][2], const float (&powers)[kBlocks][4],
                                 const float (&sums)[2], int row) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float factor = row + r * 8 < LENGTH ? __fdividef(1.f, sums[r]) : 0.f;
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) {
      shares[j][r] = pair_of(powers[j][2 * r] * factor, powers[j][2 * r + 1] * factor);
    }
  }
}

// Softmax backward: gradients of 16 positions' attention weights to those of their scores.
__device__ inline void soften_back(unsigned (&changes)[kBlocks][2],
                                   const float (&given)[kBlocks][4],
                                   const unsigned (&shares)[kBlocks][2]) {
  float sums[2] = {};
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      sums[r] += low_of(shares[j][r]) * given[j][2 * r];
      sums[r] += high_of(shares[j][r]) * given[j][2 * r + 1];
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) sums[r] = quad_sum(sums[r]);
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      changes[j][r] = pair_of(low_of(shares[j][r]) * (given[j][2 * r] - sums[r]),
                              high_of(shares[j][r]) * (given[j][2 * r + 1] - sums[r]));
    }
  }
}

// From qkv (samples, LENGTH, 3, HEADS, HEAD) and the gradient of y (samples, LENGTH, HEADS, HEAD)
// computes that of qkv. The gradients of scores reuse the shared memory of keys and values.
extern "C" __global__ void __launch_bounds__(kThreads, kTogether)
    attend_backward(const Vector* qkv, const Vector* gradient, Vector* result, const float* cos,
                    const float* sin, float scale) {
  extern __shared__ __align__(128) char memory[];
  const unsigned changes = shared_address(memory);
  constexpr unsigned kGap = kScoresBytes > 2 * kTileBytes ? kScoresBytes - 2 * kTileBytes : 0;
  const unsigned keys = changes + kGap, values = keys + kTileBytes, queries = values + kTileBytes;
  const unsigned given = queries + kTileBytes, shares = given + kRows * kRowBytes;
  const long long sample = blockIdx.x / HEADS;
  const int head = blockIdx.x % HEADS, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const long long first = sample * LENGTH * kToken + head * kParts;
  copy_tile(values, qkv + first + 2 * HEADS * kParts, kToken, false);
  copy_tile(given, gradient + (sample * LENGTH * HEADS + head) * kParts, HEADS * kParts, true);
  fetch_turned(queries, keys, qkv + first, cos, sin, false);
  wait_for_copies();

  const unsigned offset = offset_of(lane), strip = warp * kStripBytes;
  const unsigned way_out = shares + kScoresBytes + strip;
  const int row = warp * 16 + lane / 4;
  const unsigned own = row * kScoreBytes + lane % 4 * 4;
  unsigned slopes[kBlocks][2];
  {
    float scores[kBlocks][4], sums[2];
    compare(scores, queries + strip + offset, keys + offset);
    soften(scores, sums, row, lane, scale);
    unsigned pairs[kBlocks][2];
    share_out(pairs, scores, sums, row);
    keep_scores(shares + own, pairs);
    compare(scores, given + strip + offset, values + offset);
    soften_back(slopes, scores, pairs);
  }
  Angles angles;
  if (ROTATE) angles = angles_of(cos, sin, row, lane);
  const float plain = scale * 0.69314718f;  // without the factor log2(e)
  {
    float sums[HEAD / 8][4] = {};
    mix_all(sums, slopes, keys + offset);
    if (ROTATE) turn_back(sums, angles);
    write_gradient(result + first, way_out, sums, plain, warp * 16, lane);
  }
  __syncthreads();
  keep_scores(changes + own, slopes);
  __syncthreads();
  const unsigned turned = (lane % 8 + lane / 16 * 8) * kScoreBytes + (warp * 2 + lane / 8 % 2) * 16;
  {
    float sums[HEAD / 8][4] = {};
    gather(sums, changes + turned, queries + offset);
    if (ROTATE) turn_back(sums, angles);
    write_gradient(result + first + HEADS * kParts, way_out, sums, plain, warp * 16, lane);
  }
  {
    float sums[HEAD / 8][4] = {};
    gather(sums, shares + turned, given + offset);
    write_gradient(result + first + 2 * HEADS * kParts, way_out, sums, 1.f, warp * 16, lane);
  }
}
