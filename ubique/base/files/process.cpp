// SPDX-License-Identifier: Apache-2.0
// posix_spawn, pipes and waiting for children.
#include "ubique/base/files/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/files/child_signals.h"
#include "ubique/base/text/text.h"

extern "C" char** environ;

namespace ubique {
namespace {

constexpr int kNoSuchProgram = 127;  // exit code of posix_spawn's child if exec fails

std::vector<char*> argv_of(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  return argv;
}

/// posix_spawn's file actions and attributes.
struct SpawnSettings {
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    set_usual_signals(attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  /// Returns the error number; 0 if the program was started.
  int start(const std::vector<std::string>& arguments, pid_t& child) {
    auto argv = argv_of(arguments);
    return ::posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  }

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

/// nullopt if there is no such child.
std::optional<int> exit_code_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return std::nullopt;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Lets a program be further ahead of us: the more, the fewer times one waits for the other.
void widen_pipe(int descriptor) {
#ifdef F_SETPIPE_SZ
  constexpr int kMost = 1 << 20;  // what Linux lets anybody have; macOS widens pipes by itself
  ::fcntl(descriptor, F_SETPIPE_SZ, kMost);
#else
  (void)descriptor;
#endif
}

}  // namespace

std::optional<int> run_program(const std::vector<std::string>& arguments) {
  SpawnSettings settings;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&settings.actions, stream, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  if (settings.start(arguments, child) != 0) return std::nullopt;
  const auto code = exit_code_of(child);
  return code == kNoSuchProgram ? std::nullopt : code;
}

std::optional<std::filesystem::path> find_program(const std::string& name) {
  const char* folders = std::getenv("PATH");
  for (const auto& folder : split(folders != nullptr ? folders : "", ':')) {
    auto path = std::filesystem::path(folder) / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return std::nullopt;
}

PipedProgram::PipedProgram(const std::vector<std::string>& arguments, PipeEnd end)
    : name_(arguments.front()), stderr_file_(std::tmpfile()) {
  const auto require = [&](bool done, int error) {
    check(done, ErrorKind::Input, "[base.process] cannot start {}; {}.", name_,
          std::generic_category().message(error));
  };
  std::array<int, 2> ends{};
  require(stderr_file_ != nullptr && ::pipe(ends.data()) == 0, errno);
  const bool reads = end == PipeEnd::Read;
  descriptor_ = ends[reads ? 0 : 1];
  const int theirs = ends[reads ? 1 : 0];
  // No other child may inherit either end: it would keep the pipe open.
  for (const int number : ends) ::fcntl(number, F_SETFD, FD_CLOEXEC);
  if (reads) widen_pipe(descriptor_);
  SpawnSettings settings;
  auto* actions = &settings.actions;
  posix_spawn_file_actions_adddup2(actions, theirs, reads ? STDOUT_FILENO : STDIN_FILENO);
  posix_spawn_file_actions_addopen(actions, reads ? STDIN_FILENO : STDOUT_FILENO, "/dev/null",
                                   reads ? O_RDONLY : O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(actions, ::fileno(stderr_file_.get()), STDERR_FILENO);
  set_usual_signals(settings.attributes, POSIX_SPAWN_SETPGROUP);
  const int failed = settings.start(arguments, child_);
  ::close(theirs);
  if (failed == 0) return;
  close_pipe();
  require(false, failed);
}

PipedProgram::~PipedProgram() {
  if (child_ < 0) return;
  ::kill(child_, SIGTERM);
  close_pipe();
  exit_code_of(child_);
}

void PipedProgram::close_pipe() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

int PipedProgram::finish() {
  check(child_ >= 0, ErrorKind::Internal, "[base.process] {} was finished before.", name_);
  close_pipe();
  return exit_code_of(std::exchange(child_, -1)).value_or(kNoSuchProgram);
}

std::string PipedProgram::stderr_tail() const {
  constexpr long kMost = 600;
  std::fseek(stderr_file_.get(), 0, SEEK_END);
  const long length = std::ftell(stderr_file_.get());
  std::fseek(stderr_file_.get(), std::max(0L, length - kMost), SEEK_SET);
  std::string text(static_cast<std::size_t>(std::clamp(length, 0L, kMost)), '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stderr_file_.get()));
  std::ranges::replace(text, '\n', ' ');
  return std::string(trim(text));
}

}  // namespace ubique
