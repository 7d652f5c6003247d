// SPDX-License-Identifier: Apache-2.0
// Threads take the next part whenever they finish one, so that a slow or busy core does not hold up
// the rest.
#include "ubique/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace ubique {
namespace {

constexpr std::int64_t kPartsPerThread = 4;

/// The parts of one loop, taken in order.
class Parts {
 public:
  using Work = std::function<void(std::int64_t, std::int64_t)>;

  Parts(std::int64_t count, std::int64_t length, const Work& work)
      : count_(count), length_(length), work_(work) {}

  void run_remaining() noexcept {
    try {
      for (auto begin = next_.fetch_add(length_); begin < count_;
           begin = next_.fetch_add(length_)) {
        work_(begin, std::min(count_, begin + length_));
      }
    } catch (...) {
      next_ = count_;
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::int64_t count_, length_;
  const Work& work_;
  std::atomic<std::int64_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

void parallel_for(std::int64_t count, int threads,
                  const std::function<void(std::int64_t, std::int64_t)>& work, std::int64_t grain) {
  if (count <= 0) return;
  const std::int64_t shares = std::max(threads, 1) * (threads > 1 ? kPartsPerThread : 1);
  const auto length = std::max({std::int64_t{1}, grain, (count + shares - 1) / shares});
  const auto most = std::min<std::int64_t>(threads, (count + length - 1) / length);
  Parts parts(count, length, work);
  std::vector<std::thread> helpers;
  for (std::int64_t i = 1; i < most; ++i) {
    try {
      helpers.emplace_back([&parts] { parts.run_remaining(); });
    } catch (const std::system_error&) {  // thread limit reached: the others do the work
      break;
    }
  }
  parts.run_remaining();
  for (auto& helper : helpers) helper.join();
  parts.rethrow();
}

}  // namespace ubique
