// SPDX-License-Identifier: Apache-2.0
// silu(x gate^T) * (x up^T) in one kernel on Hopper (channel_gate.cuh): both halves of the product are
// combined in registers, so that the pre-activation is not written and read again. A chunk has the
// gates of 64 inner units, then their up values.
// INNER: a multiple of 64 * SPLIT. KEEP: also writes the pre-activation.
#include "channel_gate.cuh"

constexpr int kUnits = 64, kChunks = INNER / kUnits / SPLIT;

struct Gate {
  Place place;
  Bf16 *gated, *wide;

  // Writes 16 of a token's 64 units.
  __device__ void write(const unsigned (&pairs)[8], Bf16* row) const {
    uint4* const to = reinterpret_cast<uint4*>(row + place.lane % 4 * 8);
    to[0] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
    to[4] = make_uint4(pairs[4], pairs[5], pairs[6], pairs[7]);
  }
  // Writes the raw sums from `begin` on.
  template <int begin>
  __device__ void write_sums(const float (&sums)[64], Bf16* row) const {
    unsigned pairs[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) pairs[j] = pack_pair(sums[begin + 4 * j], sums[begin + 4 * j + 1]);
    write(pairs, row);
  }
  // Finishes the chunk from `unit` on for a thread's upper (half = 0) or lower (2) token.
  template <int half>
  __device__ void finish(const float (&sums)[64], long long token, int unit) const {
    if (token >= place.tokens) return;
    unsigned pairs[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int i = 4 * j + half;
      pairs[j] = pack_pair(silu(sums[i]) * sums[32 + i], silu(sums[i + 1]) * sums[33 + i]);
    }
    write(pairs, gated + token * INNER + unit);
#if KEEP
    write_sums<half>(sums, wide + token * 2 * INNER + unit);
    write_sums<32 + half>(sums, wide + token * 2 * INNER + INNER + unit);
#endif
  }
  __device__ void operator()(const float (&sums)[64], long long token, int chunk) const {
    finish<0>(sums, token, chunk * kUnits);
    finish<2>(sums, token + 8, chunk * kUnits);
  }
};

extern "C" __global__ void __launch_bounds__(384, 1)
    channel_gate(const Bf16* x, const char* weights, Bf16* gated, Bf16* wide, long long tokens) {
  extern __shared__ __align__(128) char memory[];
  const Ring ring = make_ring(memory, STAGES * kPieceBytes, 8);
  __syncthreads();
  const int role = threadIdx.x / 128;
  if (role == 0) {
    give_registers<24>();
    if (threadIdx.x == 0) stream_pieces<kChunks>(ring, weights, turns_of(tokens));
  } else {
    take_registers<240>();
    const Place place = my_place(tokens);
    do_turns<kChunks>(ring, x, place, role - 1, Gate{place, gated, wide});
  }
}
