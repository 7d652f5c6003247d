// SPDX-License-Identifier: Apache-2.0
// Tokens times streamed weights on Hopper, with the sums finished in registers. A block has 128
// tokens, 64 for each of two warpgroups. They stay in registers, so that shared memory bandwidth (the
// limit) serves only the weights, which arrive 128 rows (a chunk) at a time, in pieces of 64 along K.
// While one warpgroup finishes a chunk, the other multiplies. Weights are packed so that a thread's
// values are adjacent in memory: operands are loaded, and sums stored, 16 bytes at a time (see
// pack_channel_gate). WIDTH: K, a multiple of 64 up to 512. SPLIT: blocks per 128 tokens. STAGES.
#pragma once
#include "ring.cuh"

constexpr int kTokens = 128, kPieces = WIDTH / 64;
constexpr unsigned kPieceBytes = 128 * 64 * 2;
static_assert(WIDTH <= 512, "a group's tokens are in registers");

__device__ inline int turns_of(long long tokens) {
  return static_cast<int>((tokens + kTokens - 1) / kTokens) * SPLIT;
}

template <int chunks>  // per work item of a block
__device__ inline void stream_pieces(Ring ring, const char* weights, int turns) {
  for (int turn = blockIdx.x; turn < turns; turn += gridDim.x) {
    const char* from = weights + static_cast<long long>(turn % SPLIT) * chunks * kPieces * kPieceBytes;
    for (int piece = 0; piece < chunks * kPieces; ++piece, from += kPieceBytes) {
      ring.fetch(from, kPieceBytes);
    }
  }
}

// If both warpgroups ran in step they would finish at the same time and leave the tensor cores idle,
// so the second starts when the first is half through a chunk. (8 stages were faster than 10 or 12.)
__device__ inline void let_second_begin() { asm volatile("bar.arrive 1, 256;" ::: "memory"); }
__device__ inline void wait_for_first() { asm volatile("bar.sync 1, 256;" ::: "memory"); }

// A thread's part of two tokens: 8 adjacent values of every 32 along K, operands of two products.
struct Tokens {
  uint4 top[2 * kPieces], bottom[2 * kPieces];

  __device__ void fetch(const Bf16* top_row, const Bf16* bottom_row) {
#pragma unroll
    for (int i = 0; i < 2 * kPieces; ++i) {
      top[i] = __ldg(reinterpret_cast<const uint4*>(top_row + i * 32));
      bottom[i] = __ldg(reinterpret_cast<const uint4*>(bottom_row + i * 32));
    }
  }
  __device__ void multiply(float (&sums)[64], int piece, unsigned stage) const {
#pragma unroll
    for (int s = 0; s < 4; s += 2) {
      const uint4 &a = top[piece * 2 + s / 2], &b = bottom[piece * 2 + s / 2];
      const unsigned first[4] = {a.x, b.x, a.y, b.y}, second[4] = {a.z, b.z, a.w, b.w};
      product(sums, first, rows_of_k(stage + s * 2 * 128 * 16, 128), piece == 0 && s == 0);
      product(sums, second, rows_of_k(stage + (s + 1) * 2 * 128 * 16, 128), false);
    }
  }
};

// A thread's position among the tokens. It has 8 adjacent sums of every 32 of a token.
struct Place {
  long long tokens;
  int lane, row;  // among the warpgroup's 64

  // Past the end the last token is read again; its result is not written.
  __device__ const Bf16* row_of(const Bf16* x, long long token) const {
    return x + (token < tokens ? token : tokens - 1) * WIDTH + lane % 4 * 8;
  }
  __device__ void release(unsigned barrier) const {
    if (lane == 0) barrier_arrive(barrier);
  }
  __device__ void release(const Ring& ring, int step) const {
    release(ring.empty + step % STAGES * 8);
  }
};

__device__ inline Place my_place(long long tokens) {
  const int lane = threadIdx.x % 32;
  return {tokens, lane, static_cast<int>(threadIdx.x) % 128 / 32 * 16 + lane / 4};
}

// The products of a chunk. `leads`: the other warpgroup is waiting to start.
__device__ inline void do_chunk(float (&sums)[64], const Tokens& x, Ring& ring, const Place& place,
                                bool leads) {
#pragma unroll
  for (int piece = 0; piece < kPieces; ++piece, ++ring.step) {
    barrier_wait(ring.full_now(), ring.parity());
    products_begin();
    x.multiply(sums, piece, ring.stage_bytes(kPieceBytes));
    products_commit();
    if (piece == kPieces / 2 && leads) let_second_begin();
    if (piece > 0) {
      products_wait<1>();  // the previous piece has been read
      place.release(ring, ring.step - 1);
    }
  }
  products_wait<0>();
  place.release(ring, ring.step - 1);
}

// All work items of warpgroup 0 or 1. `finish(sums, token, chunk)` receives the sums of a chunk: even
// pairs belong to `token`, odd pairs to the token 8 rows below.
template <int chunks, typename Finish>
__device__ inline void do_turns(Ring ring, const Bf16* x, const Place& place, int group,
                                Finish finish) {
  bool leads = group == 0;
  if (!leads) wait_for_first();
  const int turns = turns_of(place.tokens);
  for (int turn = blockIdx.x; turn < turns; turn += gridDim.x) {
    const long long top = static_cast<long long>(turn / SPLIT) * kTokens + group * 64 + place.row;
    Tokens mine;
    mine.fetch(place.row_of(x, top), place.row_of(x, top + 8));
    for (int chunk = 0; chunk < chunks; ++chunk, leads = false) {
      float sums[64];
      do_chunk(sums, mine, ring, place, leads);
      finish(sums, top, turn % SPLIT * chunks + chunk);
    }
  }
}
