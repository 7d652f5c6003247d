// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels of the token MLP block on Hopper: rms_norm(x + down(swiglu(gate_up x))) along
// the L tokens of each channel. A warpgroup has 64 channels of one sample and keeps their sums in
// registers, as attention kernels do. Weights are streamed 64 inner units at a time. Channels are the
// rows of every product: x (L, H) is read as its transpose, and nothing is transposed in memory.
// LENGTH: L, at most 104. WIDTH: H, a multiple of 128. INNER: a multiple of 128. STAGES.
#pragma once
#include "ring.cuh"

constexpr int kPlaces = (LENGTH + 15) / 16 * 16;  // tokens that products sum over
constexpr int kColumns = (LENGTH + 7) / 8 * 8;    // columns of their results
constexpr int kSums = kColumns / 2;               // per thread
constexpr int kSteps = kPlaces / 16;
constexpr int kUnits = 64, kChunks = INNER / kUnits;
constexpr int kSlabs = WIDTH / 128;  // per sample; two warpgroups each

constexpr unsigned kWideBytes = 2 * kUnits * kPlaces * 2;   // (128, kPlaces): gates, then up values
constexpr unsigned kDownBytes = kColumns * kUnits * 2;      // (kColumns, 64)
constexpr unsigned kStageBytes = kWideBytes + kDownBytes;
constexpr unsigned kSlabBytes = kPlaces * kPitch;

// Streams all weights once per tile of this block, chunk by chunk.
__device__ inline void stream_weights(Ring ring, const char* weights, unsigned bytes, int tiles) {
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      ring.fetch(weights + static_cast<long long>(chunk) * bytes, bytes);
    }
  }
}

// 64 channels of a sample.
struct Slab {
  long long start;  // index of the first value
  __device__ Slab(int tile, int group) {
    const int sample = tile / kSlabs, slab = tile % kSlabs;
    start = static_cast<long long>(sample) * LENGTH * WIDTH + slab * 128 + group * 64;
  }
};

__device__ inline void fetch_slab(unsigned to, const Bf16* x, const Slab& slab, int thread) {
  for (int i = thread; i < LENGTH * 8; i += 128) {
    const int place = i / 8, part = i % 8;
    copy_16(to + place * kPitch + part * 16, x + slab.start + place * WIDTH + part * 8);
  }
}

// One warp's 16 channels of all tokens, as the left operand of products.
__device__ inline void load_fragments(unsigned (&a)[kSteps][4], unsigned slab, int warp, int lane) {
  const unsigned row = (lane / 16) * 8 + lane % 8, column = warp * 16 + lane / 8 % 2 * 8;
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    load_transposed(a[s], slab + (s * 16 + row) * kPitch + column * 2);
  }
}

// Stores values (channels, tokens) to shared memory as (tokens, channels).
template <int blocks>
__device__ inline void stage_transposed(unsigned to, const unsigned (&first)[blocks],
                                        const unsigned (&second)[blocks], int warp, int lane) {
  const unsigned column = (warp * 16 + lane / 8 % 2 * 8) * 2;
  const unsigned row = lane % 8 + lane / 16 * 8;
#pragma unroll
  for (int j = 0; j + 1 < blocks; j += 2) {
    store_transposed_4(to + (j * 8 + row) * kPitch + column, first[j], second[j], first[j + 1],
                       second[j + 1]);
  }
  if (blocks % 2 == 1) {
    store_transposed_2(to + ((blocks - 1) * 8 + lane % 8) * kPitch + column, first[blocks - 1],
                       second[blocks - 1]);
  }
}

__device__ inline float quad_sum(float value) {
  value += __shfl_xor_sync(~0u, value, 1);
  return value + __shfl_xor_sync(~0u, value, 2);
}

__device__ inline void clear_shared(unsigned from, unsigned bytes) {
  for (unsigned i = threadIdx.x * 16; i < bytes; i += blockDim.x * 16) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(from + i), "r"(0) : "memory");
  }
}

// Starts the product with gate_up at `stage`: gates and up values of 64 units, (64, 128).
__device__ inline void begin_wide(float (&wide)[64], const unsigned (&a)[kSteps][4],
                                  unsigned stage) {
  products_begin();
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    product(wide, a[s], rows_of_k(stage + s * 2 * 128 * 16, 128), s == 0);
  }
  products_commit();
}

__device__ inline void gate_units(unsigned (&gated)[4][4], const float (&wide)[64]) {
#pragma unroll
  for (int j = 0; j < 8; ++j) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int i = j * 4 + r * 2;
      gated[j / 2][j % 2 * 2 + r] =
          pack_pair(silu(wide[i]) * wide[32 + i], silu(wide[i + 1]) * wide[33 + i]);
    }
  }
}

// Starts the product with down, (64, kColumns).
__device__ inline void begin_narrow(float (&sums)[kSums], const unsigned (&gated)[4][4],
                                    unsigned stage, bool fresh) {
  products_begin();
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    product(sums, gated[s], rows_of_k(stage + kWideBytes + s * 2 * kColumns * 16, kColumns),
            fresh && s == 0);
  }
  products_commit();
}
