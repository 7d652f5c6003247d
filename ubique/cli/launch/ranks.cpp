// SPDX-License-Identifier: Apache-2.0
// posix_spawn with the variables that torchrun sets, of this program or of a shell on a host.
#include "ubique/cli/launch/ranks.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/launch/hosts.h"

extern "C" char** environ;

namespace ubique::cli {
namespace {

constexpr int kLifeNumber = 3;  // under which a rank finds the pipe

/// What tells a rank its place.
Variables place_variables(const RanksPlan& plan, int rank) {
  const auto text = [](int number) { return std::to_string(number); };
  return {{"RANK", text(rank)},
          {"WORLD_SIZE", text(plan.size())},
          {"LOCAL_RANK", text(rank % plan.count)},
          {"LOCAL_WORLD_SIZE", text(plan.count)},
          {"MASTER_ADDR", plan.hosts.empty() ? "127.0.0.1" : address_of(plan.hosts.front())},
          {"MASTER_PORT", text(plan.port)},
          {"TORCHELASTIC_RESTART_COUNT", text(plan.attempt)},
          {"UBIQUE_PARENT", text(kLifeNumber)},
          {"UBIQUE_LAUNCHED", "1"}};
}

/// Ours, with the place of a rank that runs here.
std::vector<std::string> own_variables(const RanksPlan& plan, int rank) {
  std::vector<std::string> variables;
  const auto place = plan.hosts.empty() ? place_variables(plan, rank) : Variables();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto replaced = [&](const auto& item) { return text.starts_with(item.first + "="); };
    const bool kept = std::ranges::none_of(place, replaced) && !text.starts_with("TORCHELASTIC");
    if (kept) variables.emplace_back(text);
  }
  for (const auto& [name, value] : place) variables.push_back(fmt::format("{}={}", name, value));
  return variables;
}

/// The shell that starts a rank on its host.
std::vector<std::string> remote_words(const RanksPlan& plan, int rank) {
  auto variables = variables_for_hosts();
  const auto place = place_variables(plan, rank);
  variables.insert(variables.end(), place.begin(), place.end());
  auto words = plan.shell;
  words.push_back(plan.hosts[rank / plan.count]);
  words.push_back(shell_line(plan.folder, variables, plan.words));
  return words;
}

/// Both ends of a pipe which no child inherits, above the numbers that ranks get.
std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  check(::pipe(ends.data()) == 0, ErrorKind::Internal, "[cli.launch] the system has no pipe left.");
  constexpr int kAbove = 10;
  for (int& end : ends) {
    const int moved = ::fcntl(end, F_DUPFD_CLOEXEC, kAbove);
    ::close(end);
    end = moved;
  }
  return ends;
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
    for (const int number : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&usual, number);
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

Ranks::Ranks(const RanksPlan& plan) : processes_(plan.size()) {
  std::signal(SIGPIPE, SIG_IGN);  // a rank may end before it is asked to
  for (int rank = 0; rank < plan.size(); ++rank) start(plan, rank);
}

Ranks::~Ranks() {
  kill();
  for (const auto& process : processes_) {
    if (process.id > 0 && !process.ended) ::waitpid(process.id, nullptr, 0);
  }
}

void Ranks::start(const RanksPlan& plan, int rank) {
  SpawnSettings settings;
  auto* actions = &settings.actions;
  const bool here = plan.hosts.empty();
  const auto life = make_pipe();
  processes_[rank].life = life[1];
  if (here) {
    posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(actions, life[0], here ? kLifeNumber : STDIN_FILENO);
  if (rank > 0) {
    const auto log = plan.logs / fmt::format("rank-{}.log", rank);
    const int start_over = plan.attempt == 0 ? O_TRUNC : 0;
    posix_spawn_file_actions_addopen(actions, STDERR_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND | start_over, 0644);
    posix_spawn_file_actions_adddup2(actions, STDERR_FILENO, STDOUT_FILENO);
  }
  const auto words = here ? plan.words : remote_words(plan, rank);
  const auto variables = own_variables(plan, rank);
  auto argv = pointers(words), envp = pointers(variables);
  const int error = ::posix_spawnp(&processes_[rank].id, argv[0], actions, &settings.attributes,
                                   argv.data(), envp.data());
  ::close(life[0]);
  check(error == 0, ErrorKind::Input, "[cli.launch] cannot start rank {}{}; {}: {}.", rank,
        plan.place_of(rank), words.front(), std::generic_category().message(error));
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

/// Through the pipe, which reaches other hosts too: there, a signal would end the shell alone.
void Ranks::ask_to_stop() const {
  for (const auto& process : processes_) {
    if (process.life < 0 || process.ended) continue;
    [[maybe_unused]] const auto told = ::write(process.life, "s", 1);
  }
}

void Ranks::kill() {
  for (auto& process : processes_) {
    if (process.life >= 0) ::close(std::exchange(process.life, -1));
    if (process.id > 0 && !process.ended) ::kill(-process.id, SIGKILL);
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
