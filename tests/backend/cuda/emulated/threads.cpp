// SPDX-License-Identifier: Apache-2.0
// Fibers, and barriers at which they take turns.
#include "tests/backend/cuda/emulated/threads.h"

#include <ucontext.h>

#include <array>
#include <memory>
#include <vector>

namespace ubique::test::emulated {
namespace {

constexpr std::size_t kStack = 256 << 10;

struct Barrier {
  unsigned arrived = 0, round = 0, members = 0;
  void open_if_full() {
    if (arrived < members) return;
    arrived = 0;
    ++round;
  }
};

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(kStack);
  bool done = false;
};

struct Block {
  const std::function<void()>* kernel = nullptr;
  ucontext_t scheduler{};
  std::vector<Fiber> fibers;
  Barrier whole;
  std::vector<Barrier> warps;
  std::vector<std::array<std::uint32_t, 16>> words;
};

Block block;

Fiber& current() { return block.fibers[thread_index.x]; }
Barrier& current_warp() { return block.warps[thread_index.x / 32]; }

void yield() { swapcontext(&current().context, &block.scheduler); }

void wait_at(Barrier& barrier) {
  const auto round = barrier.round;
  ++barrier.arrived;
  barrier.open_if_full();
  while (barrier.round == round) yield();
}

void run_fiber() {
  (*block.kernel)();
  current().done = true;
  for (auto* barrier : {&block.whole, &current_warp()}) {
    --barrier->members;
    barrier->open_if_full();
  }
  yield();
}

void run_block(unsigned threads) {
  block.whole = {0, 0, threads};
  block.warps.assign((threads + 31) / 32, {0, 0, 32});
  block.words.resize(threads);
  block.fibers.resize(threads);
  for (auto& fiber : block.fibers) {
    fiber.done = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, run_fiber, 0);
  }
  for (bool any = true; any;) {
    any = false;
    for (unsigned i = 0; i < threads; ++i) {
      if (block.fibers[i].done) continue;
      any = true;
      thread_index.x = i;
      swapcontext(&block.scheduler, &block.fibers[i].context);
    }
  }
}

}  // namespace

void launch(unsigned blocks, unsigned threads, const std::function<void()>& kernel) {
  block.kernel = &kernel;
  grid_size.x = blocks;
  for (block_index.x = 0; block_index.x < blocks; ++block_index.x) run_block(threads);
}

void wait_for_block() { wait_at(block.whole); }
void wait_for_warp() { wait_at(current_warp()); }

std::uint32_t* shown(unsigned lane) { return block.words[thread_index.x / 32 * 32 + lane].data(); }

}  // namespace ubique::test::emulated
