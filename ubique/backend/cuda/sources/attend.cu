// SPDX-License-Identifier: Apache-2.0
// Attention of short sequences in one kernel (attend.cuh): scores stay in registers. Several blocks
// run on one multiprocessor, so that some load while others multiply. From sm_80 on.
#include "attend.cuh"

// Blocks per multiprocessor; limited by registers.
constexpr int kTogether = LENGTH <= 104 ? 4 : LENGTH <= 112 ? 3 : 2;

// Writes 32 columns of a warp's 16 positions. Lanes exchange words so that four lanes write a whole
// sector.
__device__ inline void write_half(uint2* to, const float (&sums)[4][4], const float (&factors)[2],
                                  int row, int lane) {
  const bool odd = lane % 2;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    uint2* const line = to + (row + r * 8) * HEADS * kParts * 2 + lane % 2 * 2 + lane % 4 / 2;
#pragma unroll
    for (int n = 0; n < 4; n += 2) {
      const float *const first = sums[n] + 2 * r, *const second = sums[n + 1] + 2 * r;
      const unsigned low = pair_of(first[0] * factors[r], first[1] * factors[r]);
      const unsigned high = pair_of(second[0] * factors[r], second[1] * factors[r]);
      const unsigned other = __shfl_xor_sync(~0u, odd ? low : high, 1);
      const uint2 words = odd ? make_uint2(other, high) : make_uint2(low, other);
      if (row + r * 8 < LENGTH) line[n * 2] = words;
    }
  }
}

// qkv (samples, LENGTH, 3, HEADS, HEAD) to y (samples, LENGTH, HEADS, HEAD). `scale` includes
// the factor log2(e).
extern "C" __global__ void __launch_bounds__(kThreads, kTogether)
    attend(const Vector* qkv, Vector* y, const float* cos, const float* sin, float scale) {
  extern __shared__ __align__(128) char memory[];
  const unsigned values = shared_address(memory);
  const unsigned keys = values + kTileBytes, queries = keys + kTileBytes;
  const long long sample = blockIdx.x / HEADS;
  const int head = blockIdx.x % HEADS, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Vector* const start = qkv + sample * LENGTH * kToken + head * kParts;
  copy_tile(values, start + 2 * HEADS * kParts, kToken, false);
  fetch_turned(queries, keys, start, cos, sin, true);
  wait_for_copies();

  const unsigned offset = offset_of(lane);
  const int row = warp * 16 + lane / 4;
  float scores[kBlocks][4], factors[2];
  compare(scores, queries + warp * kStripBytes + offset, keys + offset);
  soften(scores, factors, row, lane, scale);
  unsigned shares[kBlocks][2];
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
    shares[j][0] = pair_of(scores[j][0], scores[j][1]);
    shares[j][1] = pair_of(scores[j][2], scores[j][3]);
  }
  factors[0] = __fdividef(1.f, factors[0]);
  factors[1] = __fdividef(1.f, factors[1]);
  Vector* const to = y + (sample * LENGTH * HEADS + head) * kParts;
#pragma unroll 1  // half the columns at a time: fewer registers, more blocks
  for (int half = 0; half < 2; ++half) {
    float mixed[4][4] = {};
    mix_all(mixed, shares, values + (offset ^ half * 2 * kNext));
    write_half(reinterpret_cast<uint2*>(to + half * kHalf), mixed, factors, row, lane);
  }
}
