// SPDX-License-Identifier: Apache-2.0
// Shared by attention of short sequences and its backward. A block computes one head of one sample,
// each of its warps 16 positions; rotary position embedding is applied to queries and keys on the way
// into shared memory. Both kernels are bound by shared memory and L1 traffic, not by arithmetic.
// LENGTH: at most 128. HEAD: 64. HEADS. CAUSAL. ROTATE. SCALAR: 0 = f16, 1 = bf16.
#pragma once
#include "values.cuh"
#include "warp.cuh"

constexpr int kWarps = (LENGTH + 15) / 16;
constexpr int kRows = kWarps * 16;         // positions, rounded up to whole strips
constexpr int kThreads = kWarps * 32;
constexpr int kBlocks = (LENGTH + 7) / 8;  // blocks of 8 keys
constexpr int kParts = HEAD / kLanes;      // vectors per head
constexpr int kHalf = kParts / 2;
constexpr int kSteps = HEAD / 16;          // steps of 16 values
constexpr long long kToken = 3LL * HEADS * kParts;  // vectors per position
constexpr int kRowBytes = HEAD * 2;
constexpr unsigned kStripBytes = 16 * kRowBytes;  // a warp's own positions
// Tiles are read in strips of 16 rows. The last strip may run into the next tile, whose values are
// multiplied by attention weights of zero; the last tile is followed by zeros.
constexpr unsigned kTileBytes = LENGTH * kRowBytes;

__device__ inline Vector read_vector(const Vector* from) {
  Vector v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.words[0]), "=r"(v.words[1]), "=r"(v.words[2]), "=r"(v.words[3])
               : "l"(from));
  return v;
}
__device__ inline void store_vector(unsigned to, const Vector& v) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v.words[0]),
               "r"(v.words[1]), "r"(v.words[2]), "r"(v.words[3])
               : "memory");
}
__device__ inline Vector load_vector(unsigned from) {
  Vector v;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.words[0]), "=r"(v.words[1]), "=r"(v.words[2]), "=r"(v.words[3])
               : "r"(from)
               : "memory");
  return v;
}
__device__ inline void store_word(unsigned to, unsigned word) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(word) : "memory");
}

#if SCALAR == 1
#define KIND "bf16"
#else
#define KIND "f16"
#endif
__device__ inline void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32." KIND "." KIND ".f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline unsigned pair_of(float low, float high) {
  unsigned pair;
  asm("cvt.rn." KIND "x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ inline float low_of(unsigned pair) {
#if SCALAR == 1
  return __uint_as_float(pair << 16);
#else
  return from_half(pair & 0xffffu);
#endif
}
__device__ inline float high_of(unsigned pair) {
#if SCALAR == 1
  return __uint_as_float(pair & 0xffff0000u);
#else
  return from_half(pair >> 16);
#endif
}
__device__ inline float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Swizzled offset of a vector in a tile: the vectors of eight rows lie in different banks.
__device__ inline unsigned place_of(int row, int part) {
  return row * kRowBytes + (part ^ row % 8) * 16;
}

// Starts copying (LENGTH, HEAD), positions `stride` vectors apart; pads the last tile with zeros.
__device__ inline void copy_tile(unsigned to, const Vector* from, long long stride, bool last) {
#pragma unroll
  for (int i = 0; i < kRows * kParts / kThreads; ++i) {
    const int item = threadIdx.x + i * kThreads, row = item / kParts, part = item % kParts;
    const bool inside = row < LENGTH;
    if (!inside && !last) continue;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + place_of(row, part)),
                 "l"(from + (inside ? row : 0) * stride + part), "r"(inside ? 16 : 0)
                 : "memory");
  }
}

__device__ inline void turn(Vector& first, Vector& second, const float (&cos)[kLanes],
                            const float (&sin)[kLanes]) {
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const float a = low_of(first.words[w]), b = high_of(first.words[w]);
    const float c = low_of(second.words[w]), d = high_of(second.words[w]);
    first.words[w] = pair_of(a * cos[2 * w] - c * sin[2 * w],
                             b * cos[2 * w + 1] - d * sin[2 * w + 1]);
    second.words[w] = pair_of(c * cos[2 * w] + a * sin[2 * w],
                              d * cos[2 * w + 1] + b * sin[2 * w + 1]);
  }
}

// Loads queries and keys and rotates them. All loads are issued before the first use. A thread has
// both halves of each rotated pair; neighbouring threads have rows four apart, so that their stores
// go to different banks. `last`: the queries are the last tile.
__device__ inline void fetch_turned(unsigned queries, unsigned keys, const Vector* from,
                                    const float* cos, const float* sin, bool last) {
  constexpr int kItems = kRows * kHalf / kThreads;
  Vector parts[kItems][4];
  int rows[kItems];
  const int part = threadIdx.x % kHalf, group = threadIdx.x / kHalf;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int row = group / 8 * 8 + group % 2 * 4 + group % 8 / 2 + i * (kThreads / kHalf);
    rows[i] = row;
    const Vector* const source = from + (row < LENGTH ? row : 0) * kToken + part;
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      parts[i][p] = read_vector(source + p / 2 * HEADS * kParts + p % 2 * kHalf);
    }
  }
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const bool inside = rows[i] < LENGTH;
    if (ROTATE) {
      const int angle = (inside ? rows[i] : 0) * HEAD + part * kLanes;
      float c[kLanes], s[kLanes];
#pragma unroll
      for (int lane = 0; lane < kLanes; lane += 4) {
        *reinterpret_cast<float4*>(c + lane) = *reinterpret_cast<const float4*>(cos + angle + lane);
        *reinterpret_cast<float4*>(s + lane) = *reinterpret_cast<const float4*>(sin + angle + lane);
      }
      turn(parts[i][0], parts[i][1], c, s);
      turn(parts[i][2], parts[i][3], c, s);
    }
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      const unsigned to = (p < 2 ? queries : keys) + place_of(rows[i], part + p % 2 * kHalf);
      if (inside || (last && p < 2)) store_vector(to, inside ? parts[i][p] : Vector{});
    }
  }
}

// A lane's offset for reading the first 16 values of 16 positions; the next 16 are at `^ kNext`.
constexpr unsigned kNext = 32;
__device__ inline unsigned offset_of(int lane) { return place_of(lane % 16, lane / 16); }

// Dot products of 16 positions with all positions of another tile.
__device__ inline void compare(float (&sums)[kBlocks][4], unsigned own, unsigned others) {
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[j][i] = 0.f;
  }
#pragma unroll 2  // more unrolling would cost registers and thus resident blocks
  for (int s = 0; s < kSteps; ++s) {
    unsigned a[4];
    load_blocks(a, own ^ s * kNext);
#pragma unroll
    for (int j = 0; j < kBlocks; j += 2) {
      unsigned b[4];
      load_blocks(b, (others ^ s * kNext) + j / 2 * kStripBytes);
      multiply(sums[j], a, b[0], b[2]);
      if (j + 1 < kBlocks) multiply(sums[j + 1], a, b[1], b[3]);
    }
  }
}

// sums += a (16, 16) times 16 positions of a tile.
template <int kColumns>
__device__ inline void mix(float (&sums)[kColumns][4], const unsigned (&a)[4], unsigned others) {
#pragma unroll
  for (int n = 0; n < kColumns; n += 2) {
    unsigned b[4];
    load_transposed(b, others ^ n / 2 * kNext);
    multiply(sums[n], a, b[0], b[1]);
    multiply(sums[n + 1], a, b[2], b[3]);
  }
}
// The same over all positions, with a from registers.
template <int kColumns>
__device__ inline void mix_all(float (&sums)[kColumns][4], const unsigned (&pairs)[kBlocks][2],
                               unsigned others) {
#pragma unroll
  for (int s = 0; s < kWarps; ++s) {
    constexpr int kLast = kBlocks - 1;
    const bool whole = 2 * s < kLast;
    const unsigned a[4] = {pairs[2 * s][0], pairs[2 * s][1],
                           whole ? pairs[whole ? 2 * s + 1 : kLast][0] : 0,
                           whole ? pairs[whole ? 2 * s + 1 : kLast][1] : 0};
    mix(sums, a, others + s * kStripBytes);
  }
}

__device__ inline float quad_sum(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

// Softmax numerators 2^(score - row maximum), and the row sums.
__device__ inline void soften(float (&scores)[kBlocks][4], float (&sums)[2], int row, int lane,
                              float scale) {
  float largest[2] = {-__int_as_float(0x7f800000), -__int_as_float(0x7f800000)};
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (CAUSAL || j * 8 + 8 > LENGTH) {
        const int key = j * 8 + lane % 4 * 2 + i % 2;
        const bool seen = key < LENGTH && (!CAUSAL || key <= row + i / 2 * 8);
        if (!seen) scores[j][i] = -__int_as_float(0x7f800000);
      }
      largest[i / 2] = fmaxf(largest[i / 2], scores[j][i]);
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    largest[r] = fmaxf(largest[r], __shfl_xor_sync(~0u, largest[r], 1));
    largest[r] = scale * fmaxf(largest[r], __shfl_xor_sync(~0u, largest[r], 2));
    sums[r] = 0.f;
  }
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      scores[j][i] = power_of_two(scores[j][i] * scale - largest[i / 2]);
      sums[i / 2] += scores[j][i];
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) sums[r] = quad_sum(sums[r]);
}

__device__ inline void wait_for_copies() {
  copies_done();
  __syncthreads();
}
