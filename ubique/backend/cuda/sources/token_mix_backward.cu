// SPDX-License-Identifier: Apache-2.0
// Backward of the token MLP block (token_mix.cuh): d(x), and for the weights' gradients d(pre-activation)
// (samples, 2 INNER, WIDTH) and the swiglu output (samples, INNER, WIDTH), both recomputed from x.
#include "token_mix.cuh"

constexpr unsigned kBackBytes = kUnits * kPlaces * 2;        // (64, kPlaces): down, transposed
constexpr unsigned kReturnBytes = kColumns * 2 * kUnits * 2;  // (kColumns, 128): gate_up, transposed
constexpr unsigned kBothBytes = kWideBytes + kBackBytes + kReturnBytes;
constexpr unsigned kBlockSlabBytes = kPlaces * 128;  // in blocks of 8 tokens and 8 channels
constexpr unsigned kStagingBytes = kColumns * kPitch;

__device__ inline unsigned block_address(int place, int part) {
  return (place / 8 * 8 + part) * 128 + place % 8 * 16;
}

__device__ inline void fetch_blocks(unsigned to, const Bf16* x, const Slab& slab, int thread) {
  for (int i = thread; i < LENGTH * 8; i += 128) {
    const int place = i / 8, part = i % 8;
    copy_16(to + block_address(place, part), x + slab.start + place * WIDTH + part * 8);
  }
}

// 64 channels by 16 tokens, channels in rows.
__device__ inline Descriptor rows_of_channels(unsigned slab, int step) {
  return describe(slab + step * 2 * 1024, 1024, 128);
}

// Gates and up values of 64 units, and the gradient of their swiglu output.
__device__ inline void begin_both(float (&wide)[64], float (&of_gated)[32], unsigned x_slab,
                                  unsigned sum_slab, unsigned stage) {
  products_begin();
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    product_across(wide, rows_of_channels(x_slab, s), rows_of_k(stage + s * 2 * 128 * 16, 128),
                   s == 0);
  }
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    product_across(of_gated, rows_of_channels(sum_slab, s),
                   rows_of_k(stage + kWideBytes + s * 2 * kUnits * 16, kUnits), s == 0);
  }
  products_commit();
}

__device__ inline void gate_gradients(unsigned (&of_gate)[4][4], unsigned (&of_up)[4][4],
                                      unsigned (&values)[4][4], const float (&wide)[64],
                                      const float (&of_gated)[32]) {
#pragma unroll
  for (int j = 0; j < 8; ++j) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int i = j * 4 + r * 2, to = j % 2 * 2 + r;
      const auto low = gate_gradient(wide[i], wide[32 + i], of_gated[i]);
      const auto high = gate_gradient(wide[i + 1], wide[33 + i], of_gated[i + 1]);
      of_gate[j / 2][to] = pack_pair(low.of_gate, high.of_gate);
      of_up[j / 2][to] = pack_pair(low.of_value, high.of_value);
      values[j / 2][to] = pack_pair(low.gated, high.gated);
    }
  }
}

// Gradient of the tokens, (64, kColumns).
__device__ inline void begin_return(float (&sums)[kSums], const unsigned (&of_gate)[4][4],
                                    const unsigned (&of_up)[4][4], unsigned stage, bool fresh) {
  const unsigned back = stage + kWideBytes + kBackBytes;
  products_begin();
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    product(sums, of_gate[s], rows_of_k(back + s * 2 * kColumns * 16, kColumns), fresh && s == 0);
  }
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    product(sums, of_up[s], rows_of_k(back + (s + 4) * 2 * kColumns * 16, kColumns), false);
  }
  products_commit();
}

struct Backward {
  Bf16 *of_x, *of_wide, *gated;
  unsigned staging;
  int group, warp, lane, thread;

  __device__ void write_units(const unsigned (&values)[4][4], Bf16* to) const {
    unsigned first[8], second[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      first[j] = values[j / 2][j % 2 * 2];
      second[j] = values[j / 2][j % 2 * 2 + 1];
    }
    group_sync(1 + group);  // the previous contents have been written out
    stage_transposed(staging, first, second, warp, lane);
    group_sync(1 + group);
    write_rows(to, staging, kUnits, WIDTH, thread);
  }

  __device__ void finish(const float (&sums)[kSums], unsigned of_sum_slab, const Slab& slab) const {
    unsigned first[kColumns / 8], second[kColumns / 8];
    const unsigned part = warp * 2 + lane / 8 % 2, row = lane / 16 * 8 + lane % 8;
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      unsigned a[4];
      load_transposed(a, of_sum_slab + block_address(s * 16 + row, part));
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int j = s * 2 + e;
        if (j >= kColumns / 8) continue;
        first[j] = pack_pair(sums[j * 4] + low_of(a[e * 2]), sums[j * 4 + 1] + high_of(a[e * 2]));
        second[j] = pack_pair(sums[j * 4 + 2] + low_of(a[e * 2 + 1]),
                              sums[j * 4 + 3] + high_of(a[e * 2 + 1]));
      }
    }
    group_sync(1 + group);
    stage_transposed(staging, first, second, warp, lane);
    group_sync(1 + group);
    write_rows(of_x + slab.start, staging, LENGTH, WIDTH, thread);
  }
};

extern "C" __global__ void __launch_bounds__(384, 1)
    token_mix_backward(const Bf16* of_sum, const Bf16* x, const char* weights, Bf16* of_x,
                       Bf16* of_wide, Bf16* gated, int tiles) {
  extern __shared__ __align__(128) char memory[];
  constexpr unsigned kSlabsAt = STAGES * kBothBytes, kStagingAt = kSlabsAt + 4 * kBlockSlabBytes;
  constexpr unsigned kBarriersAt = kStagingAt + 2 * kStagingBytes;
  Ring ring = make_ring(memory, kBarriersAt, 8);
  clear_shared(shared_address(memory) + kSlabsAt, 4 * kBlockSlabBytes);
  publish_shared();
  __syncthreads();
  const int role = threadIdx.x / 128;
  if (role == 0) {
    give_registers<24>();
    if (threadIdx.x == 0) stream_weights(ring, weights, kBothBytes, tiles);
  } else {
    take_registers<240>();
    Backward backward{of_x, of_wide, gated};
    backward.group = role - 1;
    backward.thread = threadIdx.x % 128;
    backward.warp = backward.thread / 32;
    backward.lane = threadIdx.x % 32;
    backward.staging = shared_address(memory) + kStagingAt + backward.group * kStagingBytes;
    const unsigned x_slab = shared_address(memory) + kSlabsAt + backward.group * 2 * kBlockSlabBytes;
    const unsigned sum_slab = x_slab + kBlockSlabBytes;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const Slab slab(tile, backward.group);
      group_sync(1 + backward.group);  // the previous tile is no longer read
      fetch_blocks(x_slab, x, slab, backward.thread);
      fetch_blocks(sum_slab, of_sum, slab, backward.thread);
      copies_done();
      publish_shared();
      group_sync(1 + backward.group);
      const long long sample = tile / kSlabs, column = slab.start % WIDTH;
      float sums[kSums];
      for (int chunk = 0; chunk < kChunks; ++chunk, ++ring.step) {
        float wide[64], of_gated[32];
        barrier_wait(ring.full_now(), ring.parity());
        const unsigned stage = ring.stage_bytes(kBothBytes);
        begin_both(wide, of_gated, x_slab, sum_slab, stage);
        products_wait<0>();
        unsigned of_gate[4][4], of_up[4][4], values[4][4];
        gate_gradients(of_gate, of_up, values, wide, of_gated);
        begin_return(sums, of_gate, of_up, stage, chunk == 0);
        // While those run, writes what the weights' gradients need.
        const long long unit = static_cast<long long>(chunk) * kUnits;
        Bf16* const rows = of_wide + (sample * 2 * INNER + unit) * WIDTH + column;
        backward.write_units(of_gate, rows);
        backward.write_units(of_up, rows + static_cast<long long>(INNER) * WIDTH);
        backward.write_units(values, gated + (sample * INNER + unit) * WIDTH + column);
        products_wait<0>();
        if (backward.lane == 0) barrier_arrive(ring.empty_now());
      }
      backward.finish(sums, sum_slab, slab);
    }
  }
}
