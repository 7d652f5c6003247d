// SPDX-License-Identifier: Apache-2.0
// posix_spawn with files, a folder, a process group, the life line and a lock that children hold.
#include "ubique/serve/worker/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "ubique/base/error.h"
#include "ubique/base/files/child_signals.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"

extern "C" char** environ;

namespace ubique::serve {
namespace {

// Numbers under which the child finds them; UBIQUE_PARENT tells it the first.
constexpr int kLifeNumber = 3, kLockNumber = 4;
constexpr double kProgressSeconds = 0.25;

class Spawn {
 public:
  Spawn() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    set_usual_signals(attributes_, POSIX_SPAWN_SETPGROUP);
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  void open(int number, const std::string& path, int flags) {
    posix_spawn_file_actions_addopen(&actions_, number, path.c_str(), flags, 0600);
  }
  void give(int ours, int theirs) { posix_spawn_file_actions_adddup2(&actions_, ours, theirs); }
  void enter(const std::string& folder) {
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  int start(const std::vector<std::string>& words, const std::vector<std::string>& variables,
            pid_t& child) {
    auto argv = pointers(words), envp = pointers(variables);
    return ::posix_spawn(&child, argv[0], &actions_, &attributes_, argv.data(), envp.data());
  }

 private:
  static std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (const auto& text : texts) list.push_back(const_cast<char*>(text.c_str()));
    list.push_back(nullptr);
    return list;
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Ours, without what belongs to the server, and with what the child shall know.
std::vector<std::string> child_variables() {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const bool ours = text.starts_with("UBIQUE_PARENT=") || text.starts_with("UBIQUE_TOKEN=") ||
                      text.starts_with("UBIQUE_PROGRESS_SECONDS=");
    if (!ours) variables.emplace_back(text);
  }
  variables.push_back("UBIQUE_PARENT=" + std::to_string(kLifeNumber));
  variables.push_back(fmt::format("UBIQUE_PROGRESS_SECONDS={}", kProgressSeconds));
  return variables;
}

/// Above the numbers that children get, so that giving them never overwrites one.
int moved_up(int descriptor) {
  const int high = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 10);
  ::close(descriptor);
  return high;
}

int open_lock(const std::filesystem::path& folder) {
  const auto path = folder / kAliveFile;
  const int lock = moved_up(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  check(lock >= 0, ErrorKind::Input, "[serve.worker] cannot write {}; {}.", path.string(),
        std::generic_category().message(errno));
  return lock;
}

}  // namespace

LifeLine::LifeLine() {
  check(::pipe(ends_) == 0, ErrorKind::Internal, "[serve.worker] the system has no pipe left.");
  for (int& end : ends_) {
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
    end = moved_up(end);
  }
}

LifeLine::~LifeLine() {
  for (const int end : ends_) ::close(end);
}

WorkerProcess::WorkerProcess(const ProcessPlan& plan, const LifeLine& life) {
  const int lock = open_lock(plan.folder);
  ::flock(lock, LOCK_EX | LOCK_NB);
  Spawn spawn;
  spawn.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  spawn.open(STDOUT_FILENO, plan.out.string(), O_WRONLY | O_CREAT | O_APPEND);
  spawn.open(STDERR_FILENO, plan.log.string(), O_WRONLY | O_CREAT | O_APPEND);
  spawn.give(life.reading_end(), kLifeNumber);
  spawn.give(lock, kLockNumber);
  spawn.enter(plan.folder.string());
  const int failed = spawn.start(plan.words, child_variables(), child_);
  if (failed == 0) {
    const auto text = std::to_string(child_) + "\n";
    const bool written =
        ::ftruncate(lock, 0) == 0 && ::pwrite(lock, text.data(), text.size(), 0) > 0;
    ::close(lock);  // the child has its own
    if (written) return;
    end_now();  // without its number nobody could end it later
    fail(ErrorKind::Input,
         "[serve.worker] cannot write {}; is the disk full? Free some space and try again.",
         (plan.folder / kAliveFile).string());
  }
  ::close(lock);
  fail(ErrorKind::Input, "[serve.worker] cannot start {}; {}.", plan.words.front(),
       std::generic_category().message(failed));
}

WorkerProcess::~WorkerProcess() { end_now(); }

void WorkerProcess::end_now() {
  if (child_ < 0 || ended()) return;
  signal(SIGKILL);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<int> WorkerProcess::ended() {
  if (code_) return code_;
  int status = 0;
  const auto got = ::waitpid(child_, &status, WNOHANG);
  if (got == child_) code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (got < 0 && errno == ECHILD) code_ = 128 + SIGKILL;
  return code_;
}

void WorkerProcess::signal(int number) const {
  if (code_) return;
  ::kill(-child_, number);
}

void end_orphan(const std::filesystem::path& folder, double seconds) {
  const auto path = folder / kAliveFile;
  const int lock = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (lock < 0) return;
  const auto start = std::chrono::steady_clock::now();
  const auto free = [&] { return ::flock(lock, LOCK_EX | LOCK_NB) == 0; };
  bool asked = false;
  while (!free()) {
    // Somebody holds it: the process whose number it wrote, which is therefore still the same one.
    std::error_code ignored;
    const auto number = parse_number(trim(read_start(path, 32)));
    const auto pid = static_cast<pid_t>(number.value_or(0));
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    const bool late = waited.count() > seconds;
    if (pid > 1 && (late || !asked)) ::kill(-pid, late ? SIGKILL : SIGTERM);
    asked = true;
    if (waited.count() > seconds + 30) break;  // not ours to wait for
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ::close(lock);
}

}  // namespace ubique::serve
