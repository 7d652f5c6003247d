// SPDX-License-Identifier: Apache-2.0
// How many threads a series of equal pieces of work uses (updates, decoding steps). The threads of
// one op wait for each other; beside other programs one of them may wait for a core, and all wait
// with it. Small networks are then faster with fewer threads, large ones are not: both are timed.
#pragma once

#include <array>
#include <cstdint>

namespace ubique::device {

class ThreadChoice {
 public:
  /// `threads` is what a quiet machine uses, `cores` how many there are.
  ThreadChoice(int threads, int cores) : threads_(threads), cores_(cores) {}

  /// The number of threads for the next piece, at `now` (seconds of any steady clock), while
  /// `elsewhere` threads of other programs want to run.
  int next(double now, int elsewhere);
  /// What the last piece took. True if it ended a trial: the choice may have changed.
  bool took(double seconds);
  /// Whether next() wants to know the load; looking costs some microseconds.
  bool wants_load(double now) const { return trials_left_ == 0 && now >= next_look_; }
  bool uses_fewer() const { return busy_ && use_fewer_; }
  int fewer() const { return fewer_; }  ///< threads that leave cores to other programs
  /// Seconds of a piece in the last trial, with all threads and with fewer.
  const std::array<double, 2>& trial_means() const { return means_; }

 private:
  void look(double now, int elsewhere);

  int threads_, cores_;
  int fewer_ = 1;
  int current_ = 0;     // of the piece that runs; 0 = none yet
  int busy_looks_ = 0;  // in a row
  bool busy_ = false, use_fewer_ = false;
  int trials_left_ = 0;
  double now_ = 0, next_look_ = 0, next_trial_ = 0;
  std::array<double, 2> sums_ = {}, means_ = {};
};

}  // namespace ubique::device
