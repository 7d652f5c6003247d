// SPDX-License-Identifier: Apache-2.0
// One worker per device: each takes the next job of its queue, sees whether it fits, and runs it.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "ubique/serve/worker/context.h"

namespace ubique::serve {

class Lanes {
 public:
  explicit Lanes(WorkerContext context) : context_(std::move(context)) {}
  ~Lanes() { stop(); }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// Settles what an earlier server left running: ends processes that outlived it, registers
  /// results that were finished, puts the rest back into the queue. Before anything starts.
  void recover();
  void start();  ///< from now on jobs run
  void stop();   ///< asks what runs to stop, waits, keeps it in the queue

 private:
  void supervise();  // gives every lane that has a job a thread
  void serve(const std::string& lane);
  bool run_next(const std::string& lane);
  bool admitted(const Job& job);
  bool has_disk(const Job& job);

  WorkerContext context_;
  std::atomic<bool> stopping_ = false;
  std::thread supervisor_;
  std::map<std::string, std::thread> threads_;
};

}  // namespace ubique::serve
