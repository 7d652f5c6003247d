// SPDX-License-Identifier: Apache-2.0
// Times pieces and sets torch's number of threads.
#include "ubique/device/threads/load_aware_threads.h"

#include <ATen/Parallel.h>

#include <atomic>
#include <chrono>

#include "ubique/base/terminal/log.h"
#include "ubique/device/threads/cpu_load.h"
#include "ubique/device/threads/thread_choice.h"

namespace ubique::device {
namespace {

std::atomic<int> followed_cores = 0;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

struct LoadAwareThreads::State {
  State(int threads, int cores) : threads(threads), choice(threads, cores) {}

  int threads;  // of a quiet machine
  ThreadChoice choice;
  bool said = false;
};

LoadAwareThreads::LoadAwareThreads() {
  const int threads = at::get_num_threads();
  if (followed_cores > 0 && threads > 1) state_ = std::make_unique<State>(threads, followed_cores);
}

LoadAwareThreads::~LoadAwareThreads() = default;

LoadAwareThreads::Piece::Piece(LoadAwareThreads& threads) : threads_(threads) {
  if (!threads_.state_) return;
  auto& state = *threads_.state_;
  start_ = seconds_now();
  const int elsewhere = state.choice.wants_load(start_) ? running_elsewhere().value_or(0) : 0;
  const int wanted = state.choice.next(start_, elsewhere);
  fewer_ = wanted != state.threads;
  if (fewer_) at::set_num_threads(wanted);
}

LoadAwareThreads::Piece::~Piece() {
  if (!threads_.state_) return;
  auto& state = *threads_.state_;
  if (fewer_) at::set_num_threads(state.threads);
  if (!state.choice.took(seconds_now() - start_) || !state.choice.uses_fewer() || state.said)
    return;
  state.said = true;
  const auto& means = state.choice.trial_means();
  log::info(
      "other programs keep the cores busy: {} of {} threads while that is faster ({:.3g} ms a step "
      "instead of {:.3g}); --threads fixes the number",
      state.choice.fewer(), state.threads, 1e3 * means[1], 1e3 * means[0]);
}

void set_threads_follow_load(int cores) { followed_cores = cores; }

}  // namespace ubique::device
