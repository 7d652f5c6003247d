// SPDX-License-Identifier: Apache-2.0
// Warp instructions from sm_80 on as functions: asynchronous copies into shared memory, and loads of
// 8x8 blocks in the layout of matrix products.
#pragma once

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ inline void copies_done() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Loads four blocks of 8 rows of 16 bytes; every lane passes the address of one row.
__device__ inline void load_blocks(unsigned (&values)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(values[0]), "=r"(values[1]), "=r"(values[2]), "=r"(values[3])
               : "r"(address));
}
__device__ inline void load_transposed(unsigned (&values)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(values[0]), "=r"(values[1]), "=r"(values[2]), "=r"(values[3])
               : "r"(address));
}
