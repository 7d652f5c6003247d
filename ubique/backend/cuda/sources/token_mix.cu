// SPDX-License-Identifier: Apache-2.0
// The token MLP block in one kernel (token_mix.cuh): two warpgroups multiply, a third streams the
// weights through shared memory.
#include "token_mix.cuh"

// Starts the gates and up values of the ring's current stage.
__device__ inline void begin_chunk(float (&wide)[64], const unsigned (&a)[kSteps][4],
                                   const Ring& ring) {
  barrier_wait(ring.full_now(), ring.parity());
  begin_wide(wide, a, ring.stage_bytes(kStageBytes));
}

struct Forward {
  Bf16* y;
  float* inverse;
  float epsilon;
  unsigned slab_memory[2];
  int group, warp, lane, thread;

  // `now` has this chunk's gates and up values; the next chunk is multiplied while they are gated.
  __device__ void chunk(float (&sums)[kSums], const float (&now)[64], float (&next)[64],
                        const unsigned (&a)[kSteps][4], Ring& ring, bool fresh) const {
    const Ring here = ring;
    ++ring.step;
    begin_chunk(next, a, ring);
    unsigned gated[4][4];
    gate_units(gated, now);
    begin_narrow(sums, gated, here.stage_bytes(kStageBytes), fresh);
    products_wait<0>();
    if (lane == 0) barrier_arrive(here.empty_now());
  }
  __device__ void last_chunk(float (&sums)[kSums], const float (&now)[64], Ring& ring) const {
    unsigned gated[4][4];
    gate_units(gated, now);
    begin_narrow(sums, gated, ring.stage_bytes(kStageBytes), false);
    products_wait<0>();
    if (lane == 0) barrier_arrive(ring.empty_now());
    ++ring.step;
  }

  // RMS norm of the sum with x; the fragments of x have the layout of the sums.
  __device__ void finish(float (&sums)[kSums], const unsigned (&a)[kSteps][4], const Slab& slab,
                         unsigned staging) const {
    float squares[2] = {0.f, 0.f};
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const unsigned pair = a[j / 2][j % 2 * 2 + r];
        float &first = sums[j * 4 + r * 2], &second = sums[j * 4 + r * 2 + 1];
        first += low_of(pair);
        second += high_of(pair);
        squares[r] += first * first + second * second;
      }
    }
    unsigned packed[2][kColumns / 8];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float root = rsqrtf(quad_sum(squares[r]) / LENGTH + epsilon);
      if (lane % 4 == 0) {
        const long long channel = slab.start % WIDTH + warp * 16 + lane / 4 + r * 8;
        inverse[slab.start / (static_cast<long long>(LENGTH) * WIDTH) * WIDTH + channel] = root;
      }
#pragma unroll
      for (int j = 0; j < kColumns / 8; ++j) {
        packed[r][j] = pack_pair(sums[j * 4 + r * 2] * root, sums[j * 4 + r * 2 + 1] * root);
      }
    }
    group_sync(1 + group);  // all warps have read x from there
    stage_transposed(staging, packed[0], packed[1], warp, lane);
    group_sync(1 + group);
    write_rows(y + slab.start, staging, LENGTH, WIDTH, thread);
  }
};

extern "C" __global__ void __launch_bounds__(384, 1)
    token_mix(const Bf16* x, const char* weights, Bf16* y, float* inverse, int tiles,
              float epsilon) {
  extern __shared__ __align__(128) char memory[];
  constexpr unsigned kSlabsAt = STAGES * kStageBytes, kBarriersAt = kSlabsAt + 4 * kSlabBytes;
  Ring ring = make_ring(memory, kBarriersAt, 8);
  clear_shared(shared_address(memory) + kSlabsAt, 4 * kSlabBytes);  // tokens past the end are zero
  __syncthreads();
  const int role = threadIdx.x / 128;
  if (role == 0) {
    give_registers<24>();
    if (threadIdx.x == 0) stream_weights(ring, weights, kStageBytes, tiles);
  } else {
    take_registers<240>();
    Forward forward{y, inverse, epsilon};
    forward.group = role - 1;
    forward.thread = threadIdx.x % 128;
    forward.warp = forward.thread / 32;
    forward.lane = threadIdx.x % 32;
    const unsigned slabs = shared_address(memory) + kSlabsAt + forward.group * 2 * kSlabBytes;
    fetch_slab(slabs, x, Slab(blockIdx.x, forward.group), forward.thread);
    int turn = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, turn ^= 1) {
      copies_done();
      group_sync(1 + forward.group);
      unsigned a[kSteps][4];
      load_fragments(a, slabs + turn * kSlabBytes, forward.warp, forward.lane);
      const int next = tile + gridDim.x;
      if (next < tiles) {
        fetch_slab(slabs + (turn ^ 1) * kSlabBytes, x, Slab(next, forward.group), forward.thread);
      }
      float sums[kSums], even[64], odd[64];
      begin_chunk(even, a, ring);
      products_wait<0>();
      for (int chunk = 0; chunk < kChunks - 2; chunk += 2) {
        forward.chunk(sums, even, odd, a, ring, chunk == 0);
        forward.chunk(sums, odd, even, a, ring, false);
      }
      forward.chunk(sums, even, odd, a, ring, kChunks == 2);
      forward.last_chunk(sums, odd, ring);
      forward.finish(sums, a, Slab(tile, forward.group), slabs + turn * kSlabBytes);
    }
  }
}
