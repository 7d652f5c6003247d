// SPDX-License-Identifier: Apache-2.0
// read() and write() loops that handle short counts, EINTR and closed pipes.
#include "ubique/base/files/stream.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/files/fault.h"

namespace ubique {
namespace {

constexpr std::size_t kMostPerStreamCall = 1U << 30U;  // macOS refuses 2 GiB and more per call

[[noreturn]] void fail_stream(const char* what, const std::string& name, int error) {
  fail(ErrorKind::Input, "[base.stream] cannot {} {}; {}.", what, name,
       error == EPIPE ? "nobody reads it any more" : std::generic_category().message(error));
}

/// Blocks SIGPIPE in this thread: a closed pipe is then an error of write() and does not kill us.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigset_t pending;
    ::sigpending(&pending);
    pending_before_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoBrokenPipeSignal() {
    sigset_t pending;
    ::sigpending(&pending);
    int taken = 0;
    if (!pending_before_ && ::sigismember(&pending, SIGPIPE) == 1) ::sigwait(&pipe_, &taken);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipeSignal(const NoBrokenPipeSignal&) = delete;
  NoBrokenPipeSignal& operator=(const NoBrokenPipeSignal&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool pending_before_ = false;
};

}  // namespace

std::size_t read_fully(int descriptor, std::span<std::byte> bytes, const std::string& name) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto wanted = std::min(bytes.size() - done, kMostPerStreamCall);
    const auto count = ::read(descriptor, bytes.data() + done, wanted);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_stream("read", name, errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::string read_to_end(int descriptor, const std::string& name, std::size_t limit) {
  std::string text;
  std::vector<std::byte> piece(1U << 16U);
  for (;;) {
    const auto count = read_fully(descriptor, piece, name);
    text.append(reinterpret_cast<const char*>(piece.data()), count);
    check(text.size() <= limit, ErrorKind::Input,
          "[base.stream] {} is too long; got more than {} bytes.", name, limit);
    if (count < piece.size()) return text;
  }
}

void write_fully(int descriptor, std::span<const std::byte> bytes, const std::string& name) {
  fault_point("stream.write");
  const NoBrokenPipeSignal quiet;
  while (!bytes.empty()) {
    const auto count =
        ::write(descriptor, bytes.data(), std::min(bytes.size(), kMostPerStreamCall));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_stream("write to", name, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

InputStream::InputStream(const std::filesystem::path& path) {
  do {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) fail_stream("open", path.string(), errno);
}

InputStream::~InputStream() { ::close(descriptor_); }

}  // namespace ubique
