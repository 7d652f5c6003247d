// SPDX-License-Identifier: Apache-2.0
// Runs jobs on a few threads and passes their results on in the order of the jobs: the output side
// of what data/prefetch.h does for input.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace ubique {

template <typename Item>
class OrderedWorkers {
 public:
  using Job = std::function<Item()>;
  /// Receives the results in order, one at a time, on a worker thread.
  using Sink = std::function<void(Item&&)>;

  /// push() waits while 2 * `threads` jobs are queued, running or not yet delivered. With no
  /// threads, push() runs the job itself.
  OrderedWorkers(Sink sink, int threads) : sink_(std::move(sink)) {
    for (int i = 0; i < threads; ++i) {
      try {
        workers_.emplace_back([this] { work(); });
      } catch (const std::system_error&) {  // thread limit reached: work with fewer
        break;
      }
    }
  }

  ~OrderedWorkers() {  // without finish(): jobs that have not begun are dropped
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      waiting_.clear();
    }
    changed_.notify_all();
    for (auto& worker : workers_) worker.join();
  }
  OrderedWorkers(const OrderedWorkers&) = delete;
  OrderedWorkers& operator=(const OrderedWorkers&) = delete;

  /// Throws what an earlier job or the sink threw; no further job runs then.
  void push(Job job) {
    if (workers_.empty()) return sink_(job());
    std::unique_lock lock(mutex_);
    const auto most = 2 * static_cast<std::int64_t>(workers_.size());
    changed_.wait(lock, [&] { return failure_ || pushed_ - delivered_ < most; });
    if (failure_) std::rethrow_exception(failure_);
    waiting_.emplace_back(pushed_++, std::move(job));
    lock.unlock();
    changed_.notify_all();
  }

  /// Waits until every result was delivered. Throws as push() does.
  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || delivered_ == pushed_; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      auto [ticket, job] = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      std::optional<Item> item;
      std::exception_ptr failure;
      try {
        item = job();
      } catch (...) {
        failure = std::current_exception();
      }
      job = nullptr;
      lock.lock();
      if (failure) {
        stop_with(failure);
      } else {
        done_.emplace(ticket, std::move(*item));
        deliver(lock);
      }
    }
  }

  /// One thread at a time passes finished results to the sink, in order, with the mutex released.
  void deliver(std::unique_lock<std::mutex>& lock) {
    if (delivering_) return;  // that thread will see this item
    delivering_ = true;
    for (auto next = done_.find(delivered_); next != done_.end() && !failure_;
         next = done_.find(delivered_)) {
      auto item = std::move(next->second);
      done_.erase(next);
      lock.unlock();
      std::exception_ptr failure;
      try {
        sink_(std::move(item));
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure) stop_with(failure);
      ++delivered_;
      changed_.notify_all();
    }
    delivering_ = false;
  }

  void stop_with(const std::exception_ptr& failure) {
    if (!failure_) failure_ = failure;
    waiting_.clear();
    changed_.notify_all();
  }

  Sink sink_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t pushed_ = 0, delivered_ = 0;
  bool stopping_ = false, delivering_ = false;
  std::exception_ptr failure_;
  std::deque<std::pair<std::int64_t, Job>> waiting_;
  std::map<std::int64_t, Item> done_;
  std::vector<std::thread> workers_;  // last: they use all of the above
};

}  // namespace ubique
