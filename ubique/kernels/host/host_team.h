// SPDX-License-Identifier: Apache-2.0
// Many short loops in a row on LibTorch's threads, which are woken once for all of them: one thread
// leads, the others wait busily for its next loop and help. Nothing depends on a helper coming, so
// a thread that the system holds back delays at most the piece it has begun.
#pragma once

#include <c10/util/FunctionRef.h>

#include <atomic>
#include <cstdint>

namespace ubique::kernels {

class HostTeam {
 public:
  /// Calls lead(team) on one thread, with the help of the others. Not inside another parallel loop:
  /// there it leads alone.
  static void run(c10::function_ref<void(HostTeam&)> lead);

  HostTeam(const HostTeam&) = delete;
  HostTeam& operator=(const HostTeam&) = delete;

  /// host_threads() at the start.
  std::int64_t threads() const { return threads_; }
  /// work(i) for each i below `count` (at most kMostPieces), by whichever thread is free; returns
  /// when all are done. For the leader; work must not throw.
  void each(std::int64_t count, c10::function_ref<void(std::int64_t)> work);

  static constexpr std::int64_t kMostPieces = (1 << 20) - 1;

 private:
  HostTeam();
  bool take_piece(std::uint64_t& seen);
  void help();

  std::int64_t threads_;
  std::atomic<bool> led_ = false;
  // Which loop (24 bits), how many pieces it has and which is next (20 bits each): a piece is taken
  // by one comparison of all three, so that nobody takes one of a loop that is over.
  alignas(64) std::atomic<std::uint64_t> loop_ = 0;
  alignas(64) std::atomic<std::int64_t> done_ = 0;
  c10::function_ref<void(std::int64_t)> work_ = nullptr;
};

}  // namespace ubique::kernels
