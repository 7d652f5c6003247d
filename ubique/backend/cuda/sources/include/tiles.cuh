// SPDX-License-Identifier: Apache-2.0
// Shared by the tensor-core kernels that work on tiles of a channels-last volume.
// CHANNELS: a multiple of 8. SCALAR: 0 = f16, 1 = bf16.
#pragma once
#include "warp.cuh"

constexpr int kParts = CHANNELS / 8;  // 16-byte parts of a voxel

struct alignas(16) Part {
  unsigned words[4];
};

// Swizzled position of a part of a voxel: parts of eight voxels, read together, are in different banks.
__device__ inline int place(int voxel, int part) {
  if (kParts == 2 || kParts == 4) part ^= voxel / (8 / kParts) % kParts;
  return voxel * kParts + part;
}

// Starts copying a part into shared memory; outside the volume it is zero.
__device__ inline void copy_part(Part* to, const Part* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
               "l"(from), "r"(inside ? 16 : 0));
}

// sum += a b, (16, 16) by (16, 8).
__device__ inline void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if SCALAR == 0
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
#else
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#endif
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
