// SPDX-License-Identifier: Apache-2.0
// Pipes, posix_spawn, and the reading thread.
#include "ubique/serve/openai/worker_link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <span>
#include <system_error>

#include "ubique/base/error.h"
#include "ubique/base/files/child_signals.h"
#include "ubique/base/files/stream.h"
#include "ubique/base/text/text.h"

extern char** environ;

namespace ubique::serve {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

/// Both ends of a pipe; neither is inherited by other children.
struct LinkPipe {
  int read = -1, write = -1;

  LinkPipe() {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) {
      fail(ErrorKind::Internal, "[serve.openai] no pipe; {}.",
           std::generic_category().message(errno));
    }
    read = ends[0], write = ends[1];
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  }
};

void close_end(int& end) {
  if (end >= 0) ::close(end);
  end = -1;
}

}  // namespace

WorkerLink::WorkerLink(const LinkPlan& plan, std::function<void(std::string)> line,
                       std::function<void(std::string)> ended)
    : line_(std::move(line)), ended_(std::move(ended)) {
  start(plan);
  reader_ = std::thread([this] { read(); });
}

WorkerLink::~WorkerLink() {
  {
    const std::lock_guard lock(writing_);
    close_end(to_);
  }
  // The reader sees the end of its output when it has ended; it waits no longer than kPatience.
  reader_.join();
  close_end(from_);
}

void WorkerLink::start(const LinkPlan& plan) {
  LinkPipe input, output;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.read, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.write, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, plan.log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  // A group of its own: Ctrl-C on the server's terminal ends it through its input, in order.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  set_usual_signals(attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> words;
  for (const auto& word : plan.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int error = ::posix_spawn(&child_, words[0], &actions, &attributes, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  close_end(input.read);
  close_end(output.write);
  if (error != 0) {
    close_end(input.write);
    close_end(output.read);
    fail(ErrorKind::Input, "[serve.openai] cannot start {}; {}.", plan.words.front(),
         std::generic_category().message(error));
  }
  to_ = input.write, from_ = output.read;
}

bool WorkerLink::send(const std::string& line) {
  const std::lock_guard lock(writing_);
  if (to_ < 0) return false;
  try {
    write_fully(to_, std::as_bytes(std::span(line)), "the model's process");
    return true;
  } catch (const Error&) {  // what became of it comes through `ended`
    return false;
  }
}

void WorkerLink::read() {
  std::string rest;
  std::array<char, 1U << 16U> buffer;
  auto closed = std::chrono::steady_clock::time_point::max();  // when we closed its input
  for (;;) {
    pollfd waiting{from_, POLLIN, 0};
    const auto ready = ::poll(&waiting, 1, 100);
    {
      const std::lock_guard lock(writing_);
      const auto now = std::chrono::steady_clock::now();
      if (to_ < 0 && closed > now) closed = now;
      if (now - kPatience > closed) ::kill(child_, SIGKILL);
    }
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const auto count = ::read(from_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    rest.append(buffer.data(), static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', begin)) {
      line_(rest.substr(begin, end - begin));
      begin = end + 1;
    }
    rest.erase(0, begin);
  }
  ended_(wait_for_end());
}

std::string WorkerLink::wait_for_end() {
  const auto given_up = std::chrono::steady_clock::now() + kPatience;
  int status = 0;
  for (;;) {
    const auto got = ::waitpid(child_, &status, WNOHANG);
    if (got == child_) break;
    if (got < 0 && errno != EINTR) return "it was not to be waited for";
    if (std::chrono::steady_clock::now() > given_up) ::kill(child_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                             : fmt::format("exit code {}", WEXITSTATUS(status));
}

std::string log_tail(const std::filesystem::path& log) {
  std::ifstream file(log);
  std::string line, last;
  while (std::getline(file, line)) {
    if (line.find("error:") != std::string::npos || last.empty()) last = line;
  }
  constexpr std::string_view kTag = "error: ";
  const auto begin = last.find(kTag);
  return std::string(trim(begin == std::string::npos ? last : last.substr(begin + kTag.size())));
}

}  // namespace ubique::serve
