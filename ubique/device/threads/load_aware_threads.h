// SPDX-License-Identifier: Apache-2.0
// Runs equal pieces of work with as many CPU threads as pay at the moment.
#pragma once

#include <memory>

namespace ubique::device {

/// Numbers of threads change the last digits of sums, so this does nothing unless
/// apply_numerics() said that the number may follow the load
/// (NumericsOptions::threads_follow_load).
class LoadAwareThreads {
 public:
  LoadAwareThreads();
  ~LoadAwareThreads();
  LoadAwareThreads(const LoadAwareThreads&) = delete;
  LoadAwareThreads& operator=(const LoadAwareThreads&) = delete;

  /// One piece of the series: an update, a step. What lies between them, such as validation, uses
  /// all threads, so that its scores do not depend on the load.
  template <typename Work>
  auto run(const Work& work) {
    const Piece piece(*this);
    return work();
  }

 private:
  class Piece {
   public:
    explicit Piece(LoadAwareThreads& threads);
    ~Piece();
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;

   private:
    LoadAwareThreads& threads_;
    double start_ = 0;
    bool fewer_ = false;
  };
  struct State;
  std::unique_ptr<State> state_;  // null: the number of threads is fixed
};

/// From now on the number may follow the load of so many cores, in the whole process (torch's
/// number is the process's, too); 0 = it is fixed.
void set_threads_follow_load(int cores);

}  // namespace ubique::device
