// SPDX-License-Identifier: Apache-2.0
// Ring buffer in shared memory through which weights are streamed, on Hopper. STAGES: its size.
#pragma once
#include "hopper.cuh"

// One thread fills it, warps empty it.
template <int count>
struct RingOf {
  unsigned full, empty, stages;  // addresses
  int step = 0;

  __device__ unsigned stage_bytes(unsigned bytes) const { return stages + step % count * bytes; }
  __device__ unsigned full_now() const { return full + step % count * 8; }
  __device__ unsigned empty_now() const { return empty + step % count * 8; }
  __device__ unsigned parity() const { return step / count & 1; }
  // Starts copying the next piece once its stage is free.
  __device__ void fetch(const char* from, unsigned bytes) {
    barrier_wait(empty_now(), parity() ^ 1);
    barrier_expect(full_now(), bytes);
    bulk_load(stage_bytes(bytes), from, bytes, full_now());
    ++step;
  }
};
using Ring = RingOf<STAGES>;

// Places the stages at `memory` and the barriers `barriers_at` bytes after it.
template <int count = STAGES>
__device__ inline RingOf<count> make_ring(char* memory, unsigned barriers_at, int readers) {
  RingOf<count> ring{shared_address(memory) + barriers_at,
                     shared_address(memory) + barriers_at + 8 * count, shared_address(memory)};
  if (threadIdx.x == 0) {
    for (int i = 0; i < count; ++i) {
      barrier_init(ring.full + 8 * i, 1);
      barrier_init(ring.empty + 8 * i, readers);
    }
    barrier_publish();
  }
  return ring;
}
