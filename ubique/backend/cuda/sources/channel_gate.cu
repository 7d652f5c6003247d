// silu(x gate^T) * (x up^T) in one kernel on Hopper: a product whose two halves meet in registers, so
// that the wide result need not be written and read again. A block has 128 tokens, which stay in
// shared memory; weights stream by, 64 inner units (gates and values, 128 rows) at a time, in pieces
// of 64 of K. While a chunk's products run, the chunk before it is gated.
// WIDTH: of x, a multiple of 64. INNER: a multiple of 64 * SPLIT. SPLIT: blocks per 128 tokens.
// KEEP: the wide values are written as well. STAGES.
constexpr int kTokens = 128, kUnits = 64, kPieces = WIDTH / 64;
constexpr int kChunks = INNER / kUnits / SPLIT;         // of one block's turn
constexpr unsigned kPieceBytes = 2 * kUnits * 64 * 2;   // (128, 64)
constexpr unsigned kLead = 64 * 16 + 16;                // from 8 of K to the next; banks do not meet
constexpr unsigned kSlabBytes = WIDTH / 8 * kLead;      // 64 tokens

__device__ inline void stream_pieces(Ring ring, const char* weights, int turns) {
  for (int turn = blockIdx.x; turn < turns; turn += gridDim.x) {
    const char* from = weights + static_cast<long long>(turn % SPLIT) * kChunks * kPieces * kPieceBytes;
    for (int piece = 0; piece < kChunks * kPieces; ++piece, ++ring.step, from += kPieceBytes) {
      barrier_wait(ring.empty_now(), ring.parity() ^ 1);
      barrier_expect(ring.full_now(), kPieceBytes);
      bulk_load(ring.stage_bytes(kPieceBytes), from, kPieceBytes, ring.full_now());
    }
  }
}

struct Gate {
  Bf16 *gated, *wide;
  unsigned slab;
  long long tokens;
  int group, warp, lane, thread;

  // 64 of K of 64 tokens; beyond the last token there are zeros.
  __device__ void fetch(const Bf16* x, long long first, int piece) const {
    for (int i = thread; i < 64 * 8; i += 128) {
      const int row = i / 8, part = piece * 8 + i % 8;
      const unsigned to = slab + part * kLead + row / 8 * 128 + row % 8 * 16;
      const long long token = first + row;
      const int bytes = token < tokens ? 16 : 0;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
                   "l"(x + (bytes > 0 ? token : 0) * WIDTH + part * 8), "r"(bytes)
                   : "memory");
    }
  }
  // In place of a piece that everybody has multiplied.
  __device__ void fetch_next(const Bf16* x, long long first, int piece) const {
    if (first < 0) return;
    group_sync(1 + group);
    fetch(x, first, piece);
  }

  // A (64, 64) tile from registers to rows of `pitch` values. Four lanes have two neighbours each of
  // a row's eight; they trade until each has 16 neighbours, which fill a sector of memory.
  __device__ void write(unsigned (&top)[8], unsigned (&bottom)[8], Bf16* to, long long first,
                        long long pitch) const {
    write_half(top, to, first + warp * 16 + lane / 4, pitch);
    write_half(bottom, to, first + warp * 16 + lane / 4 + 8, pitch);
  }
  __device__ void write_half(unsigned (&pairs)[8], Bf16* to, long long token,
                             long long pitch) const {
    unsigned even[4], odd[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      even[j] = pairs[2 * j];
      odd[j] = pairs[2 * j + 1];
    }
    trade(even, lane);
    trade(odd, lane);
    if (token >= tokens) return;
    uint4* const row = reinterpret_cast<uint4*>(to + token * pitch + lane % 4 * 16);
    row[0] = make_uint4(even[0], even[1], even[2], even[3]);
    row[1] = make_uint4(odd[0], odd[1], odd[2], odd[3]);
  }
};

// Gates 8 units of a finished chunk.
struct Gated {
  unsigned top[8], bottom[8];
#if KEEP
  unsigned gate_top[8], gate_bottom[8], up_top[8], up_bottom[8];
#endif
  __device__ inline void take(const float (&sums)[64], int j) {
    const int i = j * 4;
    top[j] = pack_pair(silu(sums[i]) * sums[32 + i], silu(sums[i + 1]) * sums[33 + i]);
    bottom[j] = pack_pair(silu(sums[i + 2]) * sums[34 + i], silu(sums[i + 3]) * sums[35 + i]);
#if KEEP
    gate_top[j] = pack_pair(sums[i], sums[i + 1]);
    gate_bottom[j] = pack_pair(sums[i + 2], sums[i + 3]);
    up_top[j] = pack_pair(sums[32 + i], sums[33 + i]);
    up_bottom[j] = pack_pair(sums[34 + i], sums[35 + i]);
#endif
  }
  __device__ inline void write(const Gate& gate, long long first, int unit) {
    gate.write(top, bottom, gate.gated + unit, first, INNER);
#if KEEP
    gate.write(gate_top, gate_bottom, gate.wide + unit, first, 2 * INNER);
    gate.write(up_top, up_bottom, gate.wide + INNER + unit, first, 2 * INNER);
#endif
  }
};

// One chunk's products into `now`; `before` has the last chunk's, if there was one. A turn's last
// chunk makes room for the tokens of the next, from `next` on, if there is one.
template <bool has_before, bool is_last>
__device__ inline void do_chunk(float (&now)[64], const float (&before)[64], Ring& ring,
                                const Gate& gate, long long first, int unit, const Bf16* x,
                                long long next) {
  Gated gated;
#pragma unroll
  for (int piece = 0; piece < kPieces; ++piece, ++ring.step) {
    barrier_wait(ring.full_now(), ring.parity());
    const unsigned stage = ring.stage_bytes(kPieceBytes);
    products_begin();
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      product(now, describe(gate.slab + (piece * 8 + s * 2) * kLead, kLead, 128),
              rows_of_k(stage + s * 2 * 128 * 16, 128), piece == 0 && s == 0);
    }
    products_commit();
    if (piece > 0) {
      products_wait<1>();  // the piece before this one has been read
      if (gate.lane == 0) barrier_arrive(ring.empty + (ring.step - 1) % STAGES * 8);
      if (is_last) gate.fetch_next(x, next, piece - 1);
    }
    if (has_before)
      for (int j = piece * 8 / kPieces; j < (piece + 1) * 8 / kPieces; ++j) gated.take(before, j);
  }
  if (has_before) gated.write(gate, first, unit);  // while the last products run
  products_wait<0>();
  if (gate.lane == 0) barrier_arrive(ring.empty + (ring.step - 1) % STAGES * 8);
  if (is_last) gate.fetch_next(x, next, kPieces - 1);
}

extern "C" __global__ void __launch_bounds__(384, 1)
    channel_gate(const Bf16* x, const char* weights, Bf16* gated, Bf16* wide, long long tokens) {
  extern __shared__ __align__(128) char memory[];
  constexpr unsigned kSlabsAt = STAGES * kPieceBytes;
  Ring ring = make_ring(memory, kSlabsAt + 2 * kSlabBytes, 8);
  __syncthreads();
  const int turns = static_cast<int>((tokens + kTokens - 1) / kTokens) * SPLIT;
  const int role = threadIdx.x / 128;
  if (role == 0) {
    give_registers<24>();
    if (threadIdx.x == 0) stream_pieces(ring, weights, turns);
  } else {
    take_registers<240>();
    Gate gate{gated, wide};
    gate.tokens = tokens;
    gate.group = role - 1;
    gate.thread = threadIdx.x % 128;
    gate.warp = gate.thread / 32;
    gate.lane = threadIdx.x % 32;
    gate.slab = shared_address(memory) + kSlabsAt + gate.group * kSlabBytes;
    const auto tokens_of = [&](int turn) {
      return static_cast<long long>(turn / SPLIT) * kTokens + gate.group * 64;
    };
    for (int piece = 0; piece < kPieces; ++piece) gate.fetch(x, tokens_of(blockIdx.x), piece);
    for (int turn = blockIdx.x; turn < turns; turn += gridDim.x) {
      const long long first = tokens_of(turn);
      const int after = turn + gridDim.x;
      const long long next = after < turns ? tokens_of(after) : -1;
      const int unit = turn % SPLIT * kChunks * kUnits;
      copies_done();
      publish_shared();
      group_sync(1 + gate.group);
      float a[64], b[64];
      do_chunk<false, false>(a, b, ring, gate, first, unit, x, next);
      for (int chunk = 0; chunk < kChunks - 2; chunk += 2) {
        do_chunk<true, false>(b, a, ring, gate, first, unit + chunk * kUnits, x, next);
        do_chunk<true, false>(a, b, ring, gate, first, unit + (chunk + 1) * kUnits, x, next);
      }
      do_chunk<true, true>(b, a, ring, gate, first, unit + (kChunks - 2) * kUnits, x, next);
      Gated last;
#pragma unroll
      for (int j = 0; j < 8; ++j) last.take(b, j);
      last.write(gate, first, unit + (kChunks - 1) * kUnits);
    }
  }
}
