// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels that run a stack of gated MLP blocks on few samples, on Hopper: three small
// kernels per layer, each of which loads its weights while the previous one still runs. Results are
// stored in the layout in which the next kernel reads them with one bulk copy; the norm along channels
// is applied by the next reader. A tile has kTokens tokens, half of a sample, in parts of 8 channels
// or units.
// LENGTH: L, at most 104. WIDTH: H, a multiple of 128.
#pragma once
#include "hopper.cuh"

constexpr int kPlaces = (LENGTH + 15) / 16 * 16;      // positions that products sum over
constexpr int kColumns = (LENGTH + 7) / 8 * 8;        // columns of their results
constexpr int kTokens = (LENGTH + 1) / 2;             // per tile; two tiles per sample
constexpr int kMates = 4;                             // blocks per cluster
constexpr int kGroup = 16, kGroups = WIDTH / kGroup;  // channels per cluster of few_tokens
constexpr int kSpan = 32, kSpans = WIDTH / kSpan;     // channels per cluster of few_down

__device__ inline void wait_for_others() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ inline void let_others_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__device__ inline void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
// Without waiting for this thread's writes.
__device__ inline void cluster_leave() {
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
__device__ inline void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
__device__ inline unsigned address_of(unsigned address, unsigned rank) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
// Copies shared memory to another block of the cluster, which waits at its own barrier.
__device__ inline void bulk_push(unsigned there, unsigned from, unsigned bytes, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
      "[%3];" ::"r"(there),
      "r"(from), "r"(bytes), "r"(barrier)
      : "memory");
}
__device__ inline void store_pair(unsigned to, float first, float second) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(first), "f"(second) : "memory");
}
__device__ inline float4 read_four(unsigned address) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address));
  return v;
}
// Bypasses L1: other multiprocessors write these values between our kernels.
__device__ inline uint4 fetch_16(const void* from) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}
__device__ inline float4 fetch_four(const float* from) {
  const uint4 v = fetch_16(from);
  return make_float4(__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z),
                     __uint_as_float(v.w));
}
__device__ inline uint2 fetch_8(const void* from) {
  uint2 v;
  asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(from));
  return v;
}
