// SPDX-License-Identifier: Apache-2.0
// SwiGLU along channels for few samples (few.cuh): gate_up with the gate, down, and the final norm.
// LENGTH, WIDTH. INNER: a multiple of 192.
#include "few.cuh"

#define SUMS_24(d) SUMS_16(d, 0), SUMS_4(d, 16), SUMS_4(d, 20)
#define PLACES_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define PLACES_24 PLACES_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
DEFINE_SHARED_PRODUCT(product, 48, 24, "24", "25", "26", "0")
// sums (64, 32) += A (64, 16) B (16, 32), both in shared memory with rows of K.
__device__ inline void product(float (&d)[16], Descriptor a, Descriptor b, bool fresh) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %18, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {" PLACES_16
      "}, %16, %17, add, 1, 1, 0, 0;\n}"
      : SUMS_16(d, 0)
      : "l"(a), "l"(b), "r"(fresh ? 0 : 1));
}

constexpr unsigned kBarrierBytes = 128;  // at the start of shared memory
constexpr int kGateUnits = 24, kGateColumns = 2 * kGateUnits, kPieces = 4;
constexpr unsigned kGateBytes = kGateColumns * WIDTH * 2;
constexpr unsigned kTokenBytes = kTokens * WIDTH * 2, kPieceBytes = kTokenBytes / kPieces;

// Computes 24 units for a tile's tokens; x (tiles, WIDTH / 8, kTokens, 8), gated (tiles, INNER / 8,
// kTokens, 8).
extern "C" __global__ void __launch_bounds__(128, 1)
    few_gate(const char* x, const char* weights, Bf16* gated) {
  extern __shared__ __align__(128) char memory[];
  const unsigned full = shared_address(memory), stage = full + kBarrierBytes;
  const unsigned tokens = stage + kGateBytes;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int tile = blockIdx.x / (INNER / kGateUnits), chunk = blockIdx.x % (INNER / kGateUnits);
  if (thread == 0) {
    for (int i = 0; i < 1 + kPieces; ++i) barrier_init(full + i * 8, 1);
    barrier_publish();
    barrier_expect(full, kGateBytes);
    bulk_load(stage, weights + static_cast<long long>(chunk) * kGateBytes, kGateBytes, full);
    wait_for_others();
    let_others_start();
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      barrier_expect(full + 8 + i * 8, kPieceBytes);
      bulk_load(tokens + i * kPieceBytes,
                x + static_cast<long long>(tile) * kTokenBytes + i * kPieceBytes, kPieceBytes,
                full + 8 + i * 8);
    }
  }
  __syncthreads();
  barrier_wait(full, 0);
  float wide[kGateColumns / 2];
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    barrier_wait(full + 8 + i * 8, 0);
    products_begin();
#pragma unroll
    for (int k = 0; k < WIDTH / 16 / kPieces; ++k) {
      const int s = i * (WIDTH / 16 / kPieces) + k;
      product(wide, rows_of_k(tokens + s * 2 * kTokens * 16, kTokens),
              rows_of_k(stage + s * 2 * kGateColumns * 16, kGateColumns), s == 0);
    }
    products_commit();
  }
  products_wait<0>();
  const long long part = static_cast<long long>(tile) * (INNER / 8) + chunk * (kGateUnits / 8);
#pragma unroll
  for (int j = 0; j < kGateUnits / 8; ++j) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = warp * 16 + r * 8 + lane / 4, i = j * 8 + r * 2;
      const unsigned pair = pack_pair(silu(wide[i]) * wide[i + 4], silu(wide[i + 1]) * wide[i + 5]);
      if (row < kTokens) {
        *reinterpret_cast<unsigned*>(gated + ((part + j) * kTokens + row) * 8 + lane % 4 * 2) =
            pair;
      }
    }
  }
}

constexpr int kSlice = INNER / kMates;  // inner units per block
constexpr unsigned kSliceBytes = kSpan * kSlice * 2, kGatedBytes = kTokens * kSlice * 2;
constexpr int kPart = (kTokens + kMates - 1) / kMates;  // tokens per block in the final sum
constexpr int kSumPitch = kSpan + 8;                    // floats; avoids bank conflicts
constexpr unsigned kPartBytes = kPart * kSumPitch * 4;
static_assert(kPart * 8 <= 128, "eight threads finish a token");

// A cluster computes 32 channels of a tile's tokens, each of its blocks a slice of the inner units.
// Writes the residual sums in f32 (samples, kGroups, LENGTH, kGroup) and the sums of their squares
// (samples, LENGTH, kSpans).
extern "C" __global__ void __cluster_dims__(kMates, 1, 1) __launch_bounds__(128, 1)
    few_down(const char* gated, const Bf16* x, const char* weights, float* sums, float* squares) {
  extern __shared__ __align__(128) char memory[];
  const unsigned full = shared_address(memory), arrived = full + 8, met = full + 16;
  const unsigned leaving = full + kBarrierBytes, meeting = leaving + kMates * kPartBytes;
  const unsigned stage = meeting + kMates * kPartBytes, values = stage + kSliceBytes;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int number = blockIdx.x / kMates, tile = number / kSpans, span = number % kSpans;
  const unsigned rank = cluster_rank();
  if (thread == 0) {
    barrier_init(full, 1);
    barrier_init(arrived, 1);
    barrier_init(met, 1);
    barrier_publish();
    barrier_expect(met, kMates * kPartBytes);
    barrier_expect(full, kSliceBytes);
    bulk_load(stage, weights + (static_cast<long long>(span) * kMates + rank) * kSliceBytes,
              kSliceBytes, full);
  }
  cluster_arrive();  // other blocks may now write to this block's memory
  cluster_wait();
  wait_for_others();
  let_others_start();
  if (thread == 0) {
    barrier_expect(arrived, kGatedBytes);
    bulk_load(values, gated + (static_cast<long long>(tile) * kMates + rank) * kGatedBytes,
              kGatedBytes, arrived);
  }
  const int own = thread / 8, row = rank * kPart + own, column = thread % 8 * 4;
  const int place = tile % 2 * kTokens + row;
  const bool ours = own < kPart && row < kTokens && place < LENGTH;
  uint2 input = make_uint2(0, 0);
  if (ours) {
    const long long part = (static_cast<long long>(tile) * WIDTH + span * kSpan + column) / 8;
    input = fetch_8(x + (part * kTokens + row) * 8 + column % 8);
  }
  barrier_wait(full, 0);
  barrier_wait(arrived, 0);
  float branch[kSpan / 2];
  products_begin();
#pragma unroll
  for (int s = 0; s < kSlice / 16; ++s) {
    product(branch, rows_of_k(values + s * 2 * kTokens * 16, kTokens),
            rows_of_k(stage + s * 2 * kSpan * 16, kSpan), s == 0);
  }
  products_commit();
  products_wait<0>();
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int from = warp * 16 + r * 8 + lane / 4;
    if (from >= kTokens) continue;
#pragma unroll
    for (int j = 0; j < kSpan / 8; ++j) {
      store_pair(leaving + (from * kSumPitch + j * 8 + lane % 4 * 2) * 4, branch[j * 4 + r * 2],
                 branch[j * 4 + r * 2 + 1]);
    }
  }
  publish_shared();
  __syncthreads();
  if (thread < kMates) {
    bulk_push(address_of(meeting + rank * kPartBytes, thread), leaving + thread * kPartBytes,
              kPartBytes, address_of(met, thread));
  }
  barrier_wait(met, 0);
  cluster_leave();
  float4 sum = make_float4(low_of(input.x), high_of(input.x), low_of(input.y), high_of(input.y));
  if (ours) {
#pragma unroll
    for (int from = 0; from < kMates; ++from) {
      const float4 v = read_four(meeting + from * kPartBytes + (own * kSumPitch + column) * 4);
      sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
  }
  float share = sum.x * sum.x + sum.y * sum.y + sum.z * sum.z + sum.w * sum.w;
#pragma unroll
  for (int offset = 4; offset > 0; offset /= 2) share += __shfl_xor_sync(~0u, share, offset);
  if (ours) {
    const long long sample = tile / 2, group = (span * kSpan + column) / kGroup;
    *reinterpret_cast<float4*>(sums + ((sample * kGroups + group) * LENGTH + place) * kGroup +
                               column % kGroup) = sum;
    if (thread % 8 == 0) squares[(sample * LENGTH + place) * kSpans + span] = share;
  }
  cluster_wait();  // this block's copies have arrived
}

// The norm of the last layer, one warp per token.
extern "C" __global__ void __launch_bounds__(128)
    few_norm(const float* sums, const float* squares, Bf16* y, long long tokens, float epsilon) {
  wait_for_others();
  let_others_start();
  const long long token = blockIdx.x * 4LL + threadIdx.x / 32;
  if (token >= tokens) return;
  const long long sample = token / LENGTH, place = token % LENGTH;
  float sum = 0.f;
#pragma unroll
  for (int i = 0; i < kSpans; i += 4) {
    const float4 v = fetch_four(squares + token * kSpans + i);
    sum += v.x + v.y + v.z + v.w;
  }
  const float root = rsqrtf(sum / WIDTH + epsilon);
  for (int i = threadIdx.x % 32 * 4; i < WIDTH; i += 128) {
    const float4 v =
        fetch_four(sums + ((sample * kGroups + i / kGroup) * LENGTH + place) * kGroup + i % kGroup);
    *reinterpret_cast<uint2*>(y + token * WIDTH + i) =
        make_uint2(pack_pair(v.x * root, v.y * root), pack_pair(v.z * root, v.w * root));
  }
}
