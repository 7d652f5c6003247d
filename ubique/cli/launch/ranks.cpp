// SPDX-License-Identifier: Apache-2.0
// posix_spawn with the variables that torchrun sets.
#include "ubique/cli/launch/ranks.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <fstream>
#include <string_view>
#include <system_error>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

extern "C" char** environ;

namespace ubique::cli {
namespace {

constexpr int kLifeNumber = 3;  // under which a rank finds the pipe

std::vector<std::string> rank_variables(const RanksPlan& plan, int rank) {
  constexpr std::string_view kReplaced[] = {
      "RANK=",        "WORLD_SIZE=",  "LOCAL_RANK=",    "LOCAL_WORLD_SIZE=", "MASTER_ADDR=",
      "MASTER_PORT=", "TORCHELASTIC", "UBIQUE_PARENT=", "UBIQUE_LAUNCHED="};
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto replaced = [&](std::string_view start) { return text.starts_with(start); };
    if (std::ranges::none_of(kReplaced, replaced)) variables.emplace_back(text);
  }
  for (const auto& variable :
       {fmt::format("RANK={}", rank), fmt::format("WORLD_SIZE={}", plan.count),
        fmt::format("LOCAL_RANK={}", rank), fmt::format("LOCAL_WORLD_SIZE={}", plan.count),
        std::string("MASTER_ADDR=127.0.0.1"), fmt::format("MASTER_PORT={}", plan.port),
        fmt::format("TORCHELASTIC_RESTART_COUNT={}", plan.attempt),
        fmt::format("UBIQUE_PARENT={}", kLifeNumber), std::string("UBIQUE_LAUNCHED=1")}) {
    variables.push_back(variable);
  }
  return variables;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const auto& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

/// Actions and attributes of a spawn, freed at the end of the scope.
struct SpawnSettings {
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigset_t usual;
    sigemptyset(&usual);
    for (const int number : {SIGINT, SIGTERM}) sigaddset(&usual, number);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    // A process group of its own: Ctrl-C comes once, from us, to all ranks.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

}  // namespace

Ranks::Ranks(const RanksPlan& plan) : processes_(plan.count) {
  check(::pipe(life_) == 0, ErrorKind::Internal, "[cli.launch] the system has no pipe left.");
  constexpr int kAbove = 10;  // above the numbers that ranks get
  for (int& end : life_) {
    const int moved = ::fcntl(end, F_DUPFD_CLOEXEC, kAbove);
    ::close(end);
    end = moved;
  }
  for (int rank = 0; rank < plan.count; ++rank) start(plan, rank);
}

Ranks::~Ranks() {
  signal(SIGKILL);
  for (const auto& process : processes_) {
    if (process.id > 0 && !process.ended) ::waitpid(process.id, nullptr, 0);
  }
  for (const int end : life_) ::close(end);
}

void Ranks::start(const RanksPlan& plan, int rank) {
  SpawnSettings settings;
  posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (rank > 0) {
    const auto log = plan.logs / fmt::format("rank-{}.log", rank);
    const int start_over = plan.attempt == 0 ? O_TRUNC : 0;
    posix_spawn_file_actions_addopen(&settings.actions, STDERR_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND | start_over, 0644);
    posix_spawn_file_actions_adddup2(&settings.actions, STDERR_FILENO, STDOUT_FILENO);
  }
  posix_spawn_file_actions_adddup2(&settings.actions, life_[0], kLifeNumber);
  const auto variables = rank_variables(plan, rank);
  auto argv = pointers(plan.words), envp = pointers(variables);
  auto& child = processes_[rank].id;
  const int error = ::posix_spawn(&child, argv[0], &settings.actions, &settings.attributes,
                                  argv.data(), envp.data());
  check(error == 0, ErrorKind::Input, "[cli.launch] cannot start rank {}; {}.", rank,
        std::generic_category().message(error));
}

std::optional<RankEnd> Ranks::next_end() {
  for (int rank = 0; rank < static_cast<int>(processes_.size()); ++rank) {
    auto& process = processes_[rank];
    int status = 0;
    if (process.ended || ::waitpid(process.id, &status, WNOHANG) != process.id) continue;
    process.ended = true;
    constexpr int kSignalled = 128;
    return RankEnd{rank, WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status)};
  }
  return std::nullopt;
}

bool Ranks::all_ended() const { return std::ranges::all_of(processes_, &Process::ended); }

void Ranks::signal(int number) const {
  for (const auto& process : processes_) {
    if (process.id > 0 && !process.ended) ::kill(-process.id, number);
  }
}

std::string last_lines(const std::filesystem::path& log) {
  constexpr std::size_t kMost = 5;
  std::ifstream file(log);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (trim(line).empty()) continue;
    lines.push_back(line);
    if (lines.size() > kMost) lines.pop_front();
  }
  return join({lines.begin(), lines.end()}, "\n");
}

}  // namespace ubique::cli
