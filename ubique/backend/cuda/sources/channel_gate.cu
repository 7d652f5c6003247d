// silu(x gate^T) * (x up^T) in one kernel on Hopper: a product whose two halves meet in registers, so
// that the wide result need not be written and read again. A block has 128 tokens, 64 for each of two
// groups, which stay in registers: shared memory, which would limit the products, then has weights
// alone to read. These stream by, 64 inner units (gates and values, 128 rows) at a time, in pieces of
// 64 of K. While one group gates a chunk, the other multiplies.
// Weights come in an order of rows and of K in which a thread's values lie side by side in memory:
// 16 bytes at a time are loaded into operands and stored from sums (see pack_channel_gate).
// WIDTH: of x, a multiple of 64 up to 512. INNER: a multiple of 64 * SPLIT. SPLIT: blocks per 128
// tokens. KEEP: the wide values are written as well. STAGES.
#include "ring.cuh"

constexpr int kTokens = 128, kUnits = 64, kPieces = WIDTH / 64;
constexpr int kChunks = INNER / kUnits / SPLIT;        // of one block's turn
constexpr unsigned kPieceBytes = 2 * kUnits * 64 * 2;  // (128, 64)
static_assert(WIDTH <= 512, "a group's tokens are in registers");

__device__ inline void stream_pieces(Ring ring, const char* weights, int turns) {
  for (int turn = blockIdx.x; turn < turns; turn += gridDim.x) {
    const char* from = weights + static_cast<long long>(turn % SPLIT) * kChunks * kPieces * kPieceBytes;
    for (int piece = 0; piece < kChunks * kPieces; ++piece, from += kPieceBytes) {
      ring.fetch(from, kPieceBytes);
    }
  }
}

// Two groups in step would gate at the same time, and nobody would multiply. So the second begins
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

struct Gate {
  Bf16 *gated, *wide;
  long long tokens;
  int lane, row;  // of the group's 64

  // Beyond the last token there is the last once more, which is not written.
  __device__ const Bf16* row_of(const Bf16* x, long long token) const {
    return x + (token < tokens ? token : tokens - 1) * WIDTH + lane % 4 * 8;
  }
  __device__ void release(const Ring& ring, int step) const {
    if (lane == 0) barrier_arrive(ring.empty + step % STAGES * 8);
  }

  // 16 of a token's 64 units.
  __device__ void write(const unsigned (&pairs)[8], Bf16* row) const {
    uint4* const to = reinterpret_cast<uint4*>(row + lane % 4 * 8);
    to[0] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
    to[4] = make_uint4(pairs[4], pairs[5], pairs[6], pairs[7]);
  }
  // Sums as they are, from `begin` on.
  template <int begin>
  __device__ void write_sums(const float (&sums)[64], Bf16* row) const {
    unsigned pairs[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) pairs[j] = pack_pair(sums[begin + 4 * j], sums[begin + 4 * j + 1]);
    write(pairs, row);
  }
  // The chunk from `unit` on of a thread's upper (half = 0) or lower (2) token.
  template <int half>
  __device__ void finish(const float (&sums)[64], long long token, int unit) const {
    if (token >= tokens) return;
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
};

// The products of a chunk. `leads`: the other group waits to begin.
__device__ inline void do_chunk(float (&sums)[64], const Tokens& x, Ring& ring, const Gate& gate,
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
      gate.release(ring, ring.step - 1);
    }
  }
  products_wait<0>();
  gate.release(ring, ring.step - 1);
}

extern "C" __global__ void __launch_bounds__(384, 1)
    channel_gate(const Bf16* x, const char* weights, Bf16* gated, Bf16* wide, long long tokens) {
  extern __shared__ __align__(128) char memory[];
  Ring ring = make_ring(memory, STAGES * kPieceBytes, 8);
  __syncthreads();
  const int turns = static_cast<int>((tokens + kTokens - 1) / kTokens) * SPLIT;
  const int role = threadIdx.x / 128;
  if (role == 0) {
    give_registers<24>();
    if (threadIdx.x == 0) stream_pieces(ring, weights, turns);
  } else {
    take_registers<240>();
    Gate gate{gated, wide, tokens};
    gate.lane = threadIdx.x % 32;
    gate.row = threadIdx.x % 128 / 32 * 16 + gate.lane / 4;
    bool leads = role == 1;
    if (!leads) wait_for_first();
    for (int turn = blockIdx.x; turn < turns; turn += gridDim.x) {
      const long long top =
          static_cast<long long>(turn / SPLIT) * kTokens + (role - 1) * 64 + gate.row;
      const int unit = turn % SPLIT * kChunks * kUnits;
      Tokens mine;
      mine.fetch(gate.row_of(x, top), gate.row_of(x, top + 8));
      for (int chunk = 0; chunk < kChunks; ++chunk, leads = false) {
        float sums[64];
        do_chunk(sums, mine, ring, gate, leads);
        gate.finish<0>(sums, top, unit + chunk * kUnits);
        gate.finish<2>(sums, top + 8, unit + chunk * kUnits);
      }
    }
  }
}
