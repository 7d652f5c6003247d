// A product of tokens with weights that stream by, on Hopper, whose sums are finished in registers.
// A block has 128 tokens, 64 for each of two groups, which stay in registers: shared memory, which
// would limit the products, then has weights alone to read. These come 128 rows (a chunk) at a time,
// in pieces of 64 of K. While one group finishes a chunk, the other multiplies.
// Weights come in an order of rows and of K in which a thread's values lie side by side in memory:
// 16 bytes at a time are loaded into operands and stored from sums (see pack_channel_gate).
// WIDTH: K, a multiple of 64 up to 512. SPLIT: blocks per 128 tokens. STAGES.
#pragma once
#include "ring.cuh"

constexpr int kTokens = 128, kPieces = WIDTH / 64;
constexpr unsigned kPieceBytes = 128 * 64 * 2;
static_assert(WIDTH <= 512, "a group's tokens are in registers");

__device__ inline int turns_of(long long tokens) {
  return static_cast<int>((tokens + kTokens - 1) / kTokens) * SPLIT;
}

template <int chunks>  // of one block's turn
__device__ inline void stream_pieces(Ring ring, const char* weights, int turns) {
  for (int turn = blockIdx.x; turn < turns; turn += gridDim.x) {
    const char* from = weights + static_cast<long long>(turn % SPLIT) * chunks * kPieces * kPieceBytes;
    for (int piece = 0; piece < chunks * kPieces; ++piece, from += kPieceBytes) {
      ring.fetch(from, kPieceBytes);
    }
  }
}

// Two groups in step would finish at the same time, and nobody would multiply. So the second begins
// when the first is half through a chunk. (Eight stages were faster than 10 or 12.)
__device__ inline void let_second_begin() { asm volatile("bar.arrive 1, 256;" ::: "memory"); }
__device__ inline void wait_for_first() { asm volatile("bar.sync 1, 256;" ::: "memory"); }

// What a thread has of two tokens: 8 neighbours of every 32 of K, operands of two products.
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

// A thread's place among the tokens. Of 32 sums of a token it has 8 neighbours.
struct Place {
  long long tokens;
  int lane, row;  // of the group's 64

  // Beyond the last token there is the last once more, which is not written.
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

// The products of a chunk. `leads`: the other group waits to begin.
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
      products_wait<1>();  // the piece before this one has been read
      place.release(ring, ring.step - 1);
    }
  }
  products_wait<0>();
  place.release(ring, ring.step - 1);
}

// All turns of group 0 or 1. `finish(sums, token, chunk)` has the sums of a chunk: of a token the
// even pairs, of the one 8 rows below the odd ones.
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
