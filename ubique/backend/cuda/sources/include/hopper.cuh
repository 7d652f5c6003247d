// SPDX-License-Identifier: Apache-2.0
// Hopper's instructions (sm_90a) as functions: barriers in shared memory, bulk copies, warpgroup
// matrix products with sums in registers. Includes no CUDA headers.
#pragma once
#include "warp.cuh"

typedef unsigned short Bf16;
typedef unsigned long long Descriptor;

__device__ inline void barrier_init(unsigned barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
__device__ inline void barrier_publish() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void barrier_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ inline void barrier_wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier), "r"(parity)
      : "memory");
}
// Rank of this block in its cluster.
__device__ inline unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// Copies contiguous memory; both addresses and the size are multiples of 16.
__device__ inline void bulk_load(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

// Tensor descriptor of the copy engine.
struct alignas(64) TensorMap {
  char bytes[128];
};

// Copies a box of a tensor (samples, positions, slices, 64) starting at `slice` and `place`; positions
// past the end read as zeros. Rows of 128 bytes, swizzled (see swizzled_map).
__device__ inline void tensor_load(unsigned to, const TensorMap& map, int slice, int place, int sample,
                                   unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
      "%4, %5}], [%6];" ::"r"(to),
      "l"(&map), "r"(0), "r"(slice), "r"(place), "r"(sample), "r"(barrier)
      : "memory");
}

__device__ inline void copy_16(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
// Makes the threads' writes visible to the tensor cores and bulk copies.
__device__ inline void publish_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Synchronises the threads of one warpgroup; ids from 1 on.
__device__ inline void group_sync(int id) { asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory"); }

template <int registers>
__device__ inline void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

// Operands in shared memory are blocks of 8 rows of 16 bytes. `leading` and `stride` are the bytes
// between blocks: along K and across it for rows of K; across K and along it for rows of M or N.
__device__ inline Descriptor describe(unsigned address, unsigned leading, unsigned stride) {
  return static_cast<Descriptor>((address & 0x3ffff) >> 4) |
         static_cast<Descriptor>(leading >> 4) << 16 | static_cast<Descriptor>(stride >> 4) << 32;
}

__device__ inline void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void products_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int pending>
__device__ inline void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

__device__ inline unsigned pack_pair(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ inline float low_of(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ inline float high_of(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

// Blocks along K are `rows` rows of 16 bytes apart, blocks across K 128 bytes.
__device__ inline Descriptor rows_of_k(unsigned address, int rows) {
  return describe(address, rows * 16, 128);
}

__device__ inline float fast_tanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ inline float silu(float x) {
  const float half = 0.5f * x;
  return fmaf(half, fast_tanh(half), half);
}

// Gradients of silu(gate) * value, and the recomputed product.
struct GateGradient {
  float of_gate, of_value, gated;
};
__device__ inline GateGradient gate_gradient(float gate, float value, float of_gated) {
  const float open = fmaf(0.5f, fast_tanh(0.5f * gate), 0.5f), opened = gate * open;
  return {of_gated * value * fmaf(opened, 1.f - open, open), of_gated * opened, opened * value};
}

// Transposes a 4x4 matrix across four lanes: value j of lane i becomes value i of lane j.
__device__ inline void trade(unsigned (&values)[4], int lane) {
#pragma unroll
  for (int step = 1; step <= 2; step *= 2) {
    const bool upper = lane & step;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i & step) continue;
      const unsigned sent = upper ? values[i] : values[i | step];
      const unsigned got = __shfl_xor_sync(~0u, sent, step);
      (upper ? values[i] : values[i | step]) = got;
    }
  }
}

__device__ inline uint4 load_16(unsigned address) {
  uint4 values;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(values.x), "=r"(values.y), "=r"(values.z), "=r"(values.w)
               : "r"(address));
  return values;
}
__device__ inline void store_4(unsigned address, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}
__device__ inline void store_transposed_4(unsigned address, unsigned a, unsigned b, unsigned c,
                                          unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}
__device__ inline void store_transposed_2(unsigned address, unsigned a, unsigned b) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(a),
               "r"(b)
               : "memory");
}

#define SUMS_4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUMS_16(d, i) SUMS_4(d, i), SUMS_4(d, i + 4), SUMS_4(d, i + 8), SUMS_4(d, i + 12)
#define SUMS_32(d) SUMS_16(d, 0), SUMS_16(d, 16)
#define SUMS_44(d) SUMS_32(d), SUMS_4(d, 32), SUMS_4(d, 36), SUMS_4(d, 40)
#define SUMS_48(d) SUMS_32(d), SUMS_16(d, 32)
#define SUMS_52(d) SUMS_44(d), SUMS_4(d, 44), SUMS_4(d, 48)
#define SUMS_64(d) SUMS_32(d), SUMS_16(d, 32), SUMS_16(d, 48)

#define PLACES_32                                                                              \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, " \
  "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define PLACES_44 PLACES_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43"
#define PLACES_48 PLACES_44 ", %44, %45, %46, %47"
#define PLACES_52 PLACES_44 ", %44, %45, %46, %47, %48, %49, %50, %51"
#define PLACES_64 PLACES_52 ", %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

// sums (64, N) += A (64, 16) B (16, N); B has rows of K. A is in registers, or in shared memory with
// rows of K (`product`) or of M (`product_across`). `fresh`: overwrites the sums instead of adding.
#define DEFINE_SHARED_PRODUCT(NAME, N, COUNT, A, B, FLAG, ACROSS)                             \
  __device__ inline void NAME(float (&d)[COUNT], Descriptor a, Descriptor b, bool fresh) {    \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" FLAG ", 0;\n"                       \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" PLACES_##COUNT  \
                 "}, %" A ", %" B ", add, 1, 1, " ACROSS ", 0;\n}"                            \
                 : SUMS_##COUNT(d)                                                            \
                 : "l"(a), "l"(b), "r"(fresh ? 0 : 1));                                       \
  }
#define DEFINE_PRODUCT(N, COUNT, A0, A1, A2, A3, B0, FLAG)                                         \
  __device__ inline void product(float (&d)[COUNT], const unsigned (&a)[4], Descriptor b,          \
                                 bool fresh) {                                                     \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" FLAG ", 0;\n"                            \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" PLACES_##COUNT       \
                 "}, {%" A0 ", %" A1 ", %" A2 ", %" A3 "}, %" B0 ", add, 1, 1, 0;\n}"              \
                 : SUMS_##COUNT(d)                                                                 \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(fresh ? 0 : 1));        \
  }                                                                                                \
  DEFINE_SHARED_PRODUCT(product, N, COUNT, A0, A1, A2, "0")                                        \
  DEFINE_SHARED_PRODUCT(product_across, N, COUNT, A0, A1, A2, "1")
DEFINE_PRODUCT(64, 32, "32", "33", "34", "35", "36", "37")
DEFINE_PRODUCT(88, 44, "44", "45", "46", "47", "48", "49")
DEFINE_PRODUCT(96, 48, "48", "49", "50", "51", "52", "53")
DEFINE_PRODUCT(104, 52, "52", "53", "54", "55", "56", "57")
DEFINE_PRODUCT(128, 64, "64", "65", "66", "67", "68", "69")

// The same for B in shared memory with rows of N, N = 64.
__device__ inline void product_of_columns(float (&d)[32], const unsigned (&a)[4], Descriptor b,
                                          bool fresh) {
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %37, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" PLACES_32
               "}, {%32, %33, %34, %35}, %36, add, 1, 1, 1;\n}"
               : SUMS_32(d)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(fresh ? 0 : 1));
}

constexpr int kPitch = 64 * 2 + 16;  // bytes of a staged row of 64 values; avoids bank conflicts

// Writes `rows` rows of 64 values from shared memory, `width` values apart.
__device__ inline void write_rows(Bf16* to, unsigned from, int rows, long long width, int thread) {
  for (int i = thread; i < rows * 8; i += 128) {
    const int row = i / 8, part = i % 8;
    *reinterpret_cast<uint4*>(to + row * width + part * 8) =
        load_16(from + row * kPitch + part * 16);
  }
}
