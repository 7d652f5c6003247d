// SPDX-License-Identifier: Apache-2.0
// Runs jobs ahead of time on a few threads and returns their results in order. If a job throws, its
// next() rethrows.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace ubique::data {

template <typename Item>
class Prefetch {
 public:
  using Job = std::function<Item()>;
  /// The next job, or nothing at the end. Called by one thread at a time.
  using Source = std::function<std::optional<Job>()>;

  /// At most `threads` items are finished or in progress at a time. With no threads every job runs
  /// in next(). `prepare` runs once in each thread, before the constructor returns.
  Prefetch(Source source, int threads, const std::function<void()>& prepare = {})
      : source_(std::move(source)), ahead_(std::max(threads, 0)) {
    std::size_t ready = 0;
    for (std::int64_t i = 0; i < ahead_; ++i) {
      try {
        workers_.emplace_back([this, prepare, &ready] {
          if (prepare) prepare();
          {
            const std::lock_guard lock(mutex_);
            ++ready;
            changed_.notify_all();  // under the lock: `ready` dies with the constructor
          }
          work();
        });
      } catch (const std::system_error&) {  // the system has no more threads: use fewer
        break;
      }
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ready == workers_.size(); });
  }

  ~Prefetch() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (auto& worker : workers_) worker.join();
  }
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// The next item in order, or nothing at the end. Throws what its job threw.
  std::optional<Item> next() {
    if (workers_.empty()) {
      auto job = source_();
      return job ? std::optional<Item>((*job)()) : std::nullopt;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_.contains(taken_) || (ended_ && taken_ == begun_); });
    const auto found = done_.find(taken_);
    if (found == done_.end()) return std::nullopt;
    auto result = std::move(found->second);
    done_.erase(found);
    ++taken_;
    lock.unlock();
    changed_.notify_all();
    if (result.error) std::rethrow_exception(result.error);
    return std::move(result.item);
  }

 private:
  struct Result {
    std::optional<Item> item;
    std::exception_ptr error;
  };

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopping_ || ended_ || begun_ - taken_ < ahead_; });
      if (stopping_ || ended_) return;
      std::optional<Job> job;
      try {
        job = source_();
      } catch (...) {
        done_.emplace(begun_++, Result{std::nullopt, std::current_exception()});
      }
      if (!job) {
        ended_ = true;
        changed_.notify_all();
        return;
      }
      const auto ticket = begun_++;
      lock.unlock();
      Result result;
      try {
        result.item = (*job)();
      } catch (...) {
        result.error = std::current_exception();
      }
      job.reset();
      lock.lock();
      done_.emplace(ticket, std::move(result));
      changed_.notify_all();
    }
  }

  Source source_;
  std::int64_t ahead_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t begun_ = 0, taken_ = 0;
  bool ended_ = false, stopping_ = false;
  std::map<std::int64_t, Result> done_;
  std::vector<std::thread> workers_;  // last: they use all other members
};

}  // namespace ubique::data
