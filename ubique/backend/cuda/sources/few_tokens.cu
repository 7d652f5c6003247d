// SPDX-License-Identifier: Apache-2.0
// The token MLP for few samples (few.cuh). LENGTH, WIDTH.
#include "few.cuh"

// sums (16, 8) += a (16, 16) b (16, 8), of one warp.
__device__ inline void multiply(float (&sums)[4], const uint4& a, unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

// Inverse RMS of a token from the sums of squares of its channel spans, in shared memory.
__device__ inline float root_of(unsigned squares, float epsilon) {
  float sum = 0.f;
#pragma unroll
  for (int i = 0; i < kSpans; i += 4) {
    const float4 v = read_four(squares + i * 4);
    sum += v.x + v.y + v.z + v.w;
  }
  return rsqrtf(sum / WIDTH + epsilon);
}

constexpr int kUnits = 128,
              kWideTiles = kUnits / 8;  // per block; a tile has 8 gates and their 8 up values
constexpr int kWideSteps = kPlaces / 16, kDownSteps = kUnits / 16, kDownTiles = kPlaces / 16;
constexpr int kMixThreads = 256;
constexpr unsigned kBlockVectors = (kWideTiles * kWideSteps + kDownTiles * kDownSteps) * 32;
constexpr unsigned kRowPitch = kGroup * 2 + 16;  // bytes of a staged row; avoids bank conflicts
constexpr unsigned kRawBytes = LENGTH * kGroup * 4, kSquaresBytes = LENGTH * kSpans * 4;
constexpr unsigned kShareBytes =
    kColumns * kGroup / kMates * 4;  // sums of the channels that one block finishes
constexpr int kItems = LENGTH * kGroup / 4, kTurns = (kItems + kMixThreads - 1) / kMixThreads;
static_assert(kWideTiles == 2 * kMixThreads / 32 && kDownTiles <= kMixThreads / 32,
              "tiles of a warp");
static_assert(kColumns * 2 <= kMixThreads, "two threads finish a place");

struct TokenMemory {
  char raw[(kRawBytes + 127) / 128 * 128], squares[(kSquaresBytes + 127) / 128 * 128];
  char leaving[kMates * kShareBytes], meeting[kMates * kShareBytes];
  char slab[kPlaces * kRowPitch], gated[kUnits * kRowPitch];
  float shares[kMixThreads / 32][4];
  unsigned long long arrived, met;
};

__device__ inline unsigned add_pair(unsigned a, unsigned b) {
  return pack_pair(low_of(a) + low_of(b), high_of(a) + high_of(b));
}
__device__ inline void store_8(unsigned to, uint2 v) {
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to), "r"(v.x), "r"(v.y) : "memory");
}
__device__ inline void store_4_bytes(unsigned to, unsigned v) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(v) : "memory");
}
// Four channels of a group at one position of a tensor (samples, LENGTH, WIDTH).
__device__ inline const Bf16* item_of(const Bf16* group, int i) {
  return group + static_cast<long long>(i / 4) * WIDTH + i % 4 * 4;
}

// One warp's weights: 16 units of gate_up, 16 positions of down.
struct TokenWeights {
  uint4 wide[2][kWideSteps], down[kDownSteps];
  __device__ TokenWeights(const uint4* block, int warp, int lane) {
#pragma unroll
    for (int i = 0; i < 2 * kWideSteps; ++i) {
      wide[i / kWideSteps][i % kWideSteps] =
          fetch_16(block + (warp * 2 * kWideSteps + i) * 32 + lane);
    }
    const uint4* rest = block + kWideTiles * kWideSteps * 32;
#pragma unroll
    for (int i = 0; i < kDownSteps; ++i) {
      if (warp < kDownTiles) down[i] = fetch_16(rest + (warp * kDownSteps + i) * 32 + lane);
    }
  }
};

// Stores the swiglu output of a block's units to shared memory.
__device__ inline void widen(const TokenWeights& weights, unsigned slab, unsigned gated, int warp,
                             int lane) {
  float sums[2][2][4] = {};
#pragma unroll
  for (int s = 0; s < kWideSteps; ++s) {
    unsigned b[4];
    load_transposed(b, slab + (s * 16 + lane % 16) * kRowPitch + lane / 16 * 16);
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      multiply(sums[m][0], weights.wide[m][s], b[0], b[1]);
      multiply(sums[m][1], weights.wide[m][s], b[2], b[3]);
    }
  }
#pragma unroll
  for (int m = 0; m < 2; ++m) {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const float* v = sums[m][n];
      store_4_bytes(gated + (warp * 16 + m * 8 + lane / 4) * kRowPitch + n * 16 + lane % 4 * 4,
                    pack_pair(silu(v[0]) * v[2], silu(v[1]) * v[3]));
    }
  }
}

// The block's part of the branch, grouped by the block that finishes it.
__device__ inline void narrow(const TokenWeights& weights, unsigned gated, unsigned leaving,
                              int warp, int lane) {
  float sums[2][2][4] = {};  // separate for even and odd steps
#pragma unroll
  for (int s = 0; s < kDownSteps; ++s) {
    unsigned b[4];
    load_transposed(b, gated + (s * 16 + lane % 16) * kRowPitch + lane / 16 * 16);
    multiply(sums[s % 2][0], weights.down[s], b[0], b[1]);
    multiply(sums[s % 2][1], weights.down[s], b[2], b[3]);
  }
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    const unsigned to = leaving + (n * 2 + lane % 4 / 2) * kShareBytes + lane % 2 * 8;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int place = warp * 16 + r * 8 + lane / 4;
      if (place >= kColumns) continue;
      store_pair(to + place * 16, sums[0][n][r * 2] + sums[1][n][r * 2],
                 sums[0][n][r * 2 + 1] + sums[1][n][r * 2 + 1]);
    }
  }
}

// Adds four channels' sums from all blocks of the cluster to the input and applies the RMS norm; a
// thread has two of the channels at one position. `y` is the first channel in its tile.
__device__ inline void finish_share(TokenMemory& memory, Bf16* y, int rank, float epsilon) {
  const int thread = threadIdx.x, place = thread / 2, pair = thread % 2;
  float first = 0.f, second = 0.f;
  if (place < LENGTH) {
    const unsigned from = shared_address(memory.meeting) + place * 16 + pair * 8;
#pragma unroll
    for (int i = 0; i < kMates; ++i) {
      float a, b;
      asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                   : "=f"(a), "=f"(b)
                   : "r"(from + i * kShareBytes));
      first += a, second += b;
    }
    unsigned own;
    asm volatile("ld.shared.u32 %0, [%1];"
                 : "=r"(own)
                 : "r"(shared_address(memory.slab) + place * kRowPitch + rank * 8 + pair * 4));
    first += low_of(own), second += high_of(own);
  }
  float squares[2] = {first * first, second * second};
#pragma unroll
  for (int offset = 2; offset < 32; offset *= 2) {
    squares[0] += __shfl_xor_sync(~0u, squares[0], offset);
    squares[1] += __shfl_xor_sync(~0u, squares[1], offset);
  }
  if (thread % 32 < 2) {
    memory.shares[thread / 32][pair * 2] = squares[0];
    memory.shares[thread / 32][pair * 2 + 1] = squares[1];
  }
  __syncthreads();
  squares[0] = squares[1] = 0.f;
#pragma unroll
  for (int i = 0; i < kMixThreads / 32; ++i) {
    squares[0] += memory.shares[i][pair * 2];
    squares[1] += memory.shares[i][pair * 2 + 1];
  }
  if (place >= LENGTH) return;
  const int row = place < kTokens ? place : WIDTH / 8 * kTokens + place - kTokens;
  *reinterpret_cast<unsigned*>(y + row * 8 + pair * 2) =
      pack_pair(first * rsqrtf(squares[0] / LENGTH + epsilon),
                second * rsqrtf(squares[1] / LENGTH + epsilon));
}

// A cluster computes 16 channels of a sample, each of its blocks 128 of the inner units; weights are
// stored in thread order. The input is the result of few_down or, for the first layer, `plain`;
// `injected` is added to it.
extern "C" __global__ void __cluster_dims__(kMates, 1, 1) __launch_bounds__(kMixThreads, 1)
    few_tokens(const char* sums, const char* squares, const Bf16* plain, const Bf16* injected,
               const uint4* weights, Bf16* y, float epsilon) {
  __shared__ __align__(128) TokenMemory memory;
  const unsigned raw = shared_address(memory.raw), marks = shared_address(memory.squares);
  const unsigned slab = shared_address(memory.slab), gated = shared_address(memory.gated);
  const unsigned leaving = shared_address(memory.leaving), meeting = shared_address(memory.meeting);
  const unsigned arrived = shared_address(&memory.arrived), met = shared_address(&memory.met);
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int number = blockIdx.x / kMates, sample = number / kGroups, group = number % kGroups;
  const long long start = static_cast<long long>(sample) * LENGTH * WIDTH + group * kGroup;
  const unsigned rank = cluster_rank();
  if (thread == 0) {
    barrier_init(arrived, 1);
    barrier_init(met, 1);
    barrier_publish();
    barrier_expect(met, kMates * kShareBytes);
  }
  cluster_arrive();  // other blocks may now write to this block's memory
  const TokenWeights own_weights(weights + rank * kBlockVectors, warp, lane);
  for (unsigned i = thread * 8; i < (kPlaces - LENGTH) * kRowPitch; i += kMixThreads * 8) {
    store_8(slab + LENGTH * kRowPitch + i, make_uint2(0, 0));
  }
  uint2 added[kTurns];
  if (injected != nullptr) {
#pragma unroll
    for (int k = 0; k < kTurns; ++k) {
      const int i = k * kMixThreads + thread;
      if (i < kItems) added[k] = fetch_8(item_of(injected + start, i));
    }
  }
  cluster_wait();
  wait_for_others();
  let_others_start();
  if (sums != nullptr) {
    if (thread == 0) {
      barrier_expect(arrived, kRawBytes + kSquaresBytes);
      bulk_load(raw, sums + static_cast<long long>(number) * kRawBytes, kRawBytes, arrived);
      bulk_load(marks, squares + static_cast<long long>(sample) * kSquaresBytes, kSquaresBytes,
                arrived);
    }
    barrier_wait(arrived, 0);
  }
#pragma unroll
  for (int k = 0; k < kTurns; ++k) {
    const int i = k * kMixThreads + thread;
    if (i >= kItems) continue;
    uint2 own;
    if (sums != nullptr) {
      const float root = root_of(marks + i / 4 * kSpans * 4, epsilon);
      const float4 v = read_four(raw + i * 16);
      own = make_uint2(pack_pair(v.x * root, v.y * root), pack_pair(v.z * root, v.w * root));
    } else {
      own = fetch_8(item_of(plain + start, i));
    }
    if (injected != nullptr)
      own = make_uint2(add_pair(own.x, added[k].x), add_pair(own.y, added[k].y));
    store_8(slab + i / 4 * kRowPitch + i % 4 * 8, own);
  }
  __syncthreads();
  widen(own_weights, slab, gated, warp, lane);
  __syncthreads();
  if (warp < kDownTiles) narrow(own_weights, gated, leaving, warp, lane);
  publish_shared();
  __syncthreads();
  if (thread < kMates) {
    bulk_push(address_of(meeting + rank * kShareBytes, thread), leaving + thread * kShareBytes,
              kShareBytes, address_of(met, thread));
  }
  barrier_wait(met, 0);
  cluster_leave();
  const int channel = group * kGroup + rank * (kGroup / kMates);
  finish_share(memory,
               y + (static_cast<long long>(sample) * 2 * (WIDTH / 8) + channel / 8) * kTokens * 8 +
                   channel % 8,
               rank, epsilon);
  cluster_wait();  // this block's copies have arrived
}
