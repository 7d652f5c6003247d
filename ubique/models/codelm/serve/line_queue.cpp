// SPDX-License-Identifier: Apache-2.0
// The reading thread. It polls, so that a request to stop is seen while nothing comes.
#include "ubique/models/codelm/serve/line_queue.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace ubique::codelm {
namespace {

constexpr int kPollMilliseconds = 50;

}  // namespace

LineQueue::LineQueue(int descriptor, std::function<bool()> stop, std::size_t longest)
    : descriptor_(descriptor),
      stop_(std::move(stop)),
      longest_(longest),
      thread_([this] { read(); }) {}

LineQueue::~LineQueue() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  thread_.join();
}

std::vector<std::string> LineQueue::take(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) changed_.wait(lock, [this] { return closed_ || !lines_.empty(); });
  std::vector<std::string> taken(std::make_move_iterator(lines_.begin()),
                                 std::make_move_iterator(lines_.end()));
  lines_.clear();
  return taken;
}

bool LineQueue::ended() {
  const std::lock_guard lock(mutex_);
  return closed_ && lines_.empty();
}

void LineQueue::read() {
  std::string rest;
  while (read_some(rest)) {
  }
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

/// False at the end.
bool LineQueue::read_some(std::string& rest) {
  {
    const std::lock_guard lock(mutex_);
    if (leaving_) return false;
  }
  if (stop_ && stop_()) return false;
  pollfd waiting{descriptor_, POLLIN, 0};
  const auto ready = ::poll(&waiting, 1, kPollMilliseconds);
  if (ready < 0) return errno == EINTR;
  if (ready == 0) return true;
  std::array<char, 1U << 16U> buffer;
  const auto count = ::read(descriptor_, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  rest.append(buffer.data(), static_cast<std::size_t>(count));
  std::size_t begin = 0;
  const std::lock_guard lock(mutex_);
  for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', begin)) {
    lines_.push_back(rest.substr(begin, end - begin));
    begin = end + 1;
  }
  rest.erase(0, begin);
  if (begin > 0) changed_.notify_all();
  return rest.size() <= longest_;
}

}  // namespace ubique::codelm
