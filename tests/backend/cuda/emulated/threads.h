// SPDX-License-Identifier: Apache-2.0
// Runs a CUDA kernel on the host: the threads of a block are fibers that take turns at barriers,
// blocks come one after the other.
#pragma once

#include <cstdint>
#include <functional>

namespace ubique::test::emulated {

struct Index {
  unsigned x = 0;
};
inline Index thread_index, block_index, grid_size;  // of the thread that runs now

/// Runs `kernel` once for each of `threads` threads of each of `blocks` blocks.
void launch(unsigned blocks, unsigned threads, const std::function<void()>& kernel);

/// Waits for all threads of the block, or of the warp, that have not returned.
void wait_for_block();
void wait_for_warp();

/// 16 words that a thread shows to the others of its warp; read between two waits.
std::uint32_t* shown(unsigned lane);
inline unsigned lane_now() { return thread_index.x % 32; }

}  // namespace ubique::test::emulated
