// SPDX-License-Identifier: Apache-2.0
// A thread with a queue.
#include "ubique/dist/background.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <utility>

#include "ubique/base/error.h"
#include "ubique/device/runtime.h"

namespace ubique::dist {
namespace {

c10::impl::VirtualGuardImpl guard_of(c10::Device device) {
  return c10::impl::VirtualGuardImpl(device.type());
}

}  // namespace

Background::Background(std::unique_ptr<Transport> transport, c10::Device device)
    : transport_(std::move(transport)), device_(device) {
  check(transport_ != nullptr, ErrorKind::Internal,
        "[dist.background] exchanges in the background of one process; expected several.");
  if (!device_.is_cpu()) stream_ = guard_of(device_).getStreamFromGlobalPool(device_);
  // The count of threads is kept for each thread, and for new ones: as it was for these.
  const int threads = at::get_num_threads();
  bool started = false;
  thread_ = std::thread([this, &started] {
    at::set_num_threads(1);
    {
      const std::scoped_lock lock(mutex_);
      started = true;
    }
    changed_.notify_all();
    run();
  });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return started; });
  at::set_num_threads(threads);
}

Background::~Background() { stop(); }

void Background::stop() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    if (busy_ || !jobs_.empty()) transport_->abandon();
    jobs_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

std::int64_t Background::push(Job job) {
  Queued queued{std::move(job), std::nullopt};
  if (stream_) {
    queued.computed.emplace(device_.type());
    queued.computed->record(guard_of(device_).getStream(device_));
  }
  std::int64_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    throw_failure();
    jobs_.push_back(std::move(queued));
    number = pushed_++;
  }
  changed_.notify_all();
  return number;
}

void Background::wait(std::int64_t job) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || done_ > job; });
  throw_failure();
}

void Background::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || done_ == pushed_; });
  throw_failure();
}

void Background::throw_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

void Background::keep_for_caller(const at::Tensor& tensor) const {
  if (tensor.defined() && !tensor.is_cpu()) {
    tensor.record_stream(guard_of(device_).getStream(device_));
  }
}

void Background::keep_for_job(const at::Tensor& tensor) const {
  if (stream_ && tensor.defined()) tensor.record_stream(*stream_);
}

/// Its failure, if it has one. Out of memory ends the run: the others wait for what did not come,
/// so that no smaller micro-batch can be agreed on.
std::exception_ptr Background::do_job(Queued& job) {
  try {
    try {
      const c10::OptionalStreamGuard stream(stream_);
      if (job.computed) job.computed->block(*stream_);
      job.work(*transport_);
      job.work = nullptr;                   // releases its tensors
      if (stream_) stream_->synchronize();  // whoever waits for the job may use what it made
    } catch (const std::exception& error) {
      if (!device::is_out_of_memory(error)) throw;
      fail(ErrorKind::Device,
           "[dist.background] out of memory for data on their way between processes; got \"{}\". "
           "Use a smaller --batch, more processes, or --shard.",
           std::string(error.what()).substr(0, std::string(error.what()).find('\n')));
    }
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void Background::run() {
  const c10::NoGradGuard no_gradients;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (ending_) return;
    busy_ = true;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    const auto failure = do_job(job);
    lock.lock();
    busy_ = false;
    ++done_;
    if (failure) {
      failure_ = failure;
      jobs_.clear();
    }
    changed_.notify_all();
    if (failure) return;
  }
}

}  // namespace ubique::dist
