// SPDX-License-Identifier: Apache-2.0
// Looks at the load now and then; on a busy machine, trials of both numbers of threads in turns.
#include "ubique/device/threads/thread_choice.h"

#include <algorithm>

namespace ubique::device {
namespace {

constexpr double kBetweenLooks = 0.25;  // seconds
constexpr int kBusyLooks = 2;           // in a row, so that a passing glimpse changes nothing
constexpr double kBetweenTrials = 15;   // while the machine stays busy
constexpr int kTrials = 6;              // three with each number of threads, in turns
constexpr double kLongPiece = 2;        // seconds: its threads wait little, and trials cost much
constexpr double kWorthwhile = 0.95;    // of the time with all threads

}  // namespace

int ThreadChoice::next(double now, int elsewhere) {
  now_ = now;
  if (wants_load(now)) look(now, elsewhere);
  if (trials_left_ > 0) return current_ = trials_left_ % 2 == 0 ? threads_ : fewer_;
  return current_ = uses_fewer() ? fewer_ : threads_;
}

void ThreadChoice::look(double now, int elsewhere) {
  next_look_ = now + kBetweenLooks;
  const int free = std::max(1, cores_ - elsewhere);
  busy_looks_ = free < threads_ ? busy_looks_ + 1 : 0;
  if (busy_looks_ == 0) {
    busy_ = false;
    next_trial_ = now;
  }
  if (busy_looks_ < kBusyLooks || now < next_trial_) return;
  busy_ = true;
  fewer_ = free;
  trials_left_ = kTrials;
  sums_ = {};
}

bool ThreadChoice::took(double seconds) {
  if (trials_left_ == 0) return false;
  const bool all = current_ == threads_;
  sums_[all ? 0 : 1] += seconds;
  const bool long_piece = all && seconds > kLongPiece;
  trials_left_ = long_piece ? 0 : trials_left_ - 1;
  if (trials_left_ > 0) return false;
  means_ = {2 * sums_[0] / kTrials, 2 * sums_[1] / kTrials};
  use_fewer_ = !long_piece && means_[1] < kWorthwhile * means_[0];
  next_trial_ = now_ + seconds + kBetweenTrials;
  return true;
}

}  // namespace ubique::device
