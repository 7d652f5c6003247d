// SPDX-License-Identifier: Apache-2.0
// Handing pieces out, and waiting that gives the core away when it takes long.
#include "ubique/kernels/host/host_team.h"

#include <thread>

#include "ubique/kernels/host/host_threads.h"

namespace ubique::kernels {
namespace {

constexpr std::uint64_t kOver = ~std::uint64_t{0};  // the value of loop_ after the last loop
constexpr std::uint64_t kCountBits = 20, kCountMask = (1U << kCountBits) - 1;

/// Waits a moment; other programs get the core when this was called many times in a row.
class Patience {
 public:
  void wait() {
    constexpr int kBusy = 2000;  // about 50 µs: longer than the leader works alone
    if (++waited_ > kBusy) return std::this_thread::yield();
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

 private:
  int waited_ = 0;
};

}  // namespace

HostTeam::HostTeam() : threads_(host_threads()) {}

void HostTeam::run(c10::function_ref<void(HostTeam&)> lead) {
  HostTeam team;
  if (team.threads_ == 1) return lead(team);
  on_host_threads([&](std::int64_t) {
    if (team.led_.exchange(true)) return team.help();
    struct End {
      HostTeam& team;
      ~End() { team.loop_.store(kOver, std::memory_order_release); }
    } const end{team};
    lead(team);
  });
}

/// Takes and does a piece of the present loop; false if there is none. `seen` becomes the loop.
bool HostTeam::take_piece(std::uint64_t& seen) {
  seen = loop_.load(std::memory_order_acquire);
  for (;;) {
    const auto next = seen & kCountMask, count = (seen >> kCountBits) & kCountMask;
    if (seen == kOver || next >= count) return false;
    if (loop_.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel)) {
      work_(static_cast<std::int64_t>(next));
      done_.fetch_add(1, std::memory_order_release);
      return true;
    }
  }
}

void HostTeam::help() {
  std::uint64_t seen = 0;
  Patience patience;
  while (seen != kOver) {
    if (take_piece(seen)) {
      patience = {};
    } else {
      patience.wait();
    }
  }
}

void HostTeam::each(std::int64_t count, c10::function_ref<void(std::int64_t)> work) {
  if (count <= 1 || threads_ == 1) {
    for (std::int64_t i = 0; i < count; ++i) work(i);
    return;
  }
  work_ = work;
  done_.store(0, std::memory_order_relaxed);
  const auto number = (loop_.load(std::memory_order_relaxed) >> (2 * kCountBits)) + 1;
  // The number of the last loop before it starts again from 0 would look like kOver.
  const auto loop = number & 0x7FFFFFU;
  loop_.store(loop << (2 * kCountBits) | static_cast<std::uint64_t>(count) << kCountBits,
              std::memory_order_release);
  std::uint64_t seen = 0;
  while (take_piece(seen)) {
  }
  Patience patience;
  while (done_.load(std::memory_order_acquire) < count) patience.wait();
}

}  // namespace ubique::kernels
