// SPDX-License-Identifier: Apache-2.0
// The token MLP block for few samples (token_mix.cuh), where token_mix.cu would leave most of the card
// idle: a cluster has 64 channels of a sample, each of its blocks one chunk of the inner units; their
// sums are exchanged through shared memory, and every block finishes a few of the channels.
#include "token_mix.cuh"
#include "values.cuh"

constexpr int kShare = 64 / kChunks;            // channels finished per block
static_assert(64 % kChunks == 0, "channels go round");
constexpr int kSumPitch = kColumns + 4;         // floats per channel; avoids bank conflicts

__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
__device__ inline float read_from(unsigned address, unsigned rank) {
  float value;
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %1, %2;\n"
      "ld.shared::cluster.f32 %0, [there];\n}"
      : "=f"(value)
      : "r"(address), "r"(rank));
  return value;
}

// Stores the sums of this block's chunk to shared memory, channels in rows.
__device__ inline void leave_sums(unsigned to, const float (&sums)[kSums], int warp, int lane) {
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    const int channel = warp * 16 + lane / 4 + i / 2 % 2 * 8, place = i / 4 * 8 + lane % 4 * 2 + i % 2;
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(to + (channel * kSumPitch + place) * 4), "f"(sums[i])
                 : "memory");
  }
}

// 16 threads finish one channel.
__device__ inline void finish_channels(unsigned sums, unsigned slab, Bf16* y, float* inverse,
                                       const Slab& from, int thread, float epsilon) {
  constexpr int kThreads = 128 / kShare, kPer = (LENGTH + kThreads - 1) / kThreads;
  const int channel = cluster_rank() * kShare + thread / kThreads, lane = thread % kThreads;
  float values[kPer], squares = 0.f;
#pragma unroll
  for (int k = 0; k < kPer; ++k) {
    const int place = k * kThreads + lane;
    values[k] = 0.f;
    if (place >= LENGTH) continue;
#pragma unroll
    for (int rank = 0; rank < kChunks; ++rank) {
      values[k] += read_from(sums + (channel * kSumPitch + place) * 4, rank);
    }
    unsigned short own;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(own) : "r"(slab + place * kPitch + channel * 2));
    values[k] += __uint_as_float(static_cast<unsigned>(own) << 16);
    squares += values[k] * values[k];
  }
#pragma unroll
  for (int offset = kThreads / 2; offset > 0; offset /= 2) {
    squares += __shfl_xor_sync(~0u, squares, offset);
  }
  const float root = rsqrtf(squares / LENGTH + epsilon);
  const long long sample = from.start / (static_cast<long long>(LENGTH) * WIDTH);
  if (lane == 0) inverse[sample * WIDTH + from.start % WIDTH + channel] = root;
#pragma unroll
  for (int k = 0; k < kPer; ++k) {
    const int place = k * kThreads + lane;
    if (place < LENGTH) {
      y[from.start + static_cast<long long>(place) * WIDTH + channel] = to_bfloat(values[k] * root);
    }
  }
}

extern "C" __global__ void __cluster_dims__(kChunks, 1, 1) __launch_bounds__(128, 1)
    token_mix_few(const Bf16* x, const char* weights, Bf16* y, float* inverse, float epsilon) {
  extern __shared__ __align__(128) char memory[];
  const unsigned stage = shared_address(memory), slab = stage + kStageBytes;
  const unsigned sums_at = slab + kSlabBytes, full = sums_at + 64 * kSumPitch * 4;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int number = blockIdx.x / kChunks;  // 64 channels of a sample
  const Slab from(number / 2, number % 2);
  if (thread == 0) {
    barrier_init(full, 1);
    barrier_publish();
    barrier_expect(full, kStageBytes);
    bulk_load(stage, weights + static_cast<long long>(cluster_rank()) * kStageBytes, kStageBytes, full);
  }
  clear_shared(slab + LENGTH * kPitch, (kPlaces - LENGTH) * kPitch);
  fetch_slab(slab, x, from, thread);
  copies_done();
  __syncthreads();
  unsigned a[kSteps][4];
  load_fragments(a, slab, warp, lane);
  barrier_wait(full, 0);
  float wide[64], sums[kSums];
  begin_wide(wide, a, stage);
  products_wait<0>();
  unsigned gated[4][4];
  gate_units(gated, wide);
  begin_narrow(sums, gated, stage, true);
  products_wait<0>();
  leave_sums(sums_at, sums, warp, lane);
  cluster_sync();
  finish_channels(sums_at, slab, y, inverse, from, thread, epsilon);
  cluster_sync();  // other blocks may still read this block's sums
}
