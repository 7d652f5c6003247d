// SPDX-License-Identifier: Apache-2.0
// What the kernels of a decoding step need of the card's own instructions, as functions, so that
// tests can run these kernels on the host with others in their place.
#pragma once
#include "values.cuh"

// A block that is launched early (programmatic dependent launch) may touch only constants before it
// has waited.
__device__ inline void wait_for_others() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline void let_others_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Weights: each is read once.
__device__ inline Vector stream(const Vector* from) {
  Vector v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.words[0]), "=r"(v.words[1]), "=r"(v.words[2]), "=r"(v.words[3])
               : "l"(from));
  return v;
}
// Past the first cache: other multiprocessors write these values between our kernels.
__device__ inline Vector fetch(const Vector* from) {
  Vector v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.words[0]), "=r"(v.words[1]), "=r"(v.words[2]), "=r"(v.words[3])
               : "l"(from)
               : "memory");
  return v;
}
__device__ inline Scalar fetch(const Scalar* from) {
  Scalar v;
  asm volatile("ld.global.cg.u16 %0, [%1];" : "=h"(v) : "l"(from) : "memory");
  return v;
}
__device__ inline float fetch(const float* from) {
  float v;
  asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(from) : "memory");
  return v;
}

// Copies into shared memory that go on meanwhile; those since the last end_copies() are a group.
__device__ inline void copy_later(Vector* to, const Vector* from) {
  const unsigned there = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(there), "l"(from) : "memory");
}
__device__ inline void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for all groups but the last `going` ones.
template <int going>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(going) : "memory");
}

// sum (16, 8) += a (16, 16) b (16, 8). Lane 4 g + t has of the sum rows g and g + 8 at columns 2 t
// and 2 t + 1; of a rows g, g + 8, g, g + 8 at 2 t (twice), then 2 t + 8 (twice), two values in
// each; of b column g at rows 2 t and 2 t + 8, two in each.
__device__ inline void multiply(float (&sum)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                unsigned b0, unsigned b1) {
#if SCALAR == 1
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
#endif
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
