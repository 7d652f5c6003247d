// SPDX-License-Identifier: Apache-2.0
// Exchanges that a thread of this rank makes while the rank does something else: one after the
// other, over connections of their own. All ranks ask for the same ones in the same order.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "ubique/dist/transport.h"

namespace ubique::dist {

class Background {
 public:
  using Job = std::function<void(Transport& transport)>;

  /// For tensors on `device`; over connections that no other has (World::beside).
  Background(std::unique_ptr<Transport> transport, c10::Device device);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Returns at once with the job's number. The job runs after the ones before, without gradients,
  /// on a device after what the caller's stream was given so far. Throws if an earlier job failed.
  std::int64_t push(Job job);
  /// Waits for the job of that number and those before. Throws if one of them failed.
  void wait(std::int64_t job);
  /// Waits for all.
  void wait();
  /// Ends the thread. What is not done yet is given up: other ranks may not come any more.
  void stop();

  c10::Device device() const { return device_; }
  /// Tensors that a job made are used by the caller's stream from now on, or the other way round.
  void keep_for_caller(const at::Tensor& tensor) const;
  void keep_for_job(const at::Tensor& tensor) const;

 private:
  struct Queued {
    Job work;
    std::optional<c10::Event> computed;  // the job's tensors, on a device that does not wait
  };
  void run();
  std::exception_ptr do_job(Queued& job);
  void throw_failure() const;

  std::unique_ptr<Transport> transport_;
  c10::Device device_;
  std::optional<c10::Stream> stream_;  // of the thread, on a device that has them
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Queued> jobs_;             // under mutex_, and the next four
  std::int64_t pushed_ = 0, done_ = 0;  // jobs
  bool busy_ = false;
  bool ending_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace ubique::dist
