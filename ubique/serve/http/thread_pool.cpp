// SPDX-License-Identifier: Apache-2.0
// Threads end by themselves after some idle seconds; finish() waits until the last has.
#include "ubique/serve/http/thread_pool.h"

#include <chrono>
#include <system_error>

#include "ubique/base/error.h"

namespace ubique::serve {

void GrowingPool::add(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  check(!finishing_, ErrorKind::Internal, "[serve.threads] work was added to a pool that ends.");
  waiting_.push_back(std::move(work));
  if (waiting_.size() <= idle_ || threads_ >= most_) {
    wake_.notify_one();
    return;
  }
  try {
    std::thread([this] { serve(); }).detach();
    ++threads_;
  } catch (const std::system_error&) {
    // The system has no more threads: those that are there will come to it.
    if (threads_ == 0) throw;
  }
}

void GrowingPool::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (waiting_.empty()) {
      ++idle_;
      const bool work = wake_.wait_for(lock, std::chrono::duration<double>(idle_seconds_),
                                       [&] { return !waiting_.empty() || finishing_; });
      --idle_;
      if (waiting_.empty() && (!work || finishing_)) break;
    }
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next();
    next = nullptr;
    lock.lock();
  }
  --threads_;
  // Under the lock: finish() must not return, and the pool go, before this thread is done with it.
  ended_.notify_all();
}

void GrowingPool::finish() {
  std::unique_lock lock(mutex_);
  finishing_ = true;
  wake_.notify_all();
  ended_.wait(lock, [&] { return threads_ == 0; });
}

std::size_t GrowingPool::threads() const {
  const std::lock_guard lock(mutex_);
  return threads_;
}

}  // namespace ubique::serve
