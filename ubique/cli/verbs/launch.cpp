// SPDX-License-Identifier: Apache-2.0
// `ubique launch -n N -- train|run|evaluate ...`: N processes of this machine, or of each of
// several hosts, as one command, for those without torchrun, SLURM or MPI.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/interrupt.h"
#include "ubique/cli/launch/hosts.h"
#include "ubique/cli/launch/supervise.h"
#include "ubique/cli/serve/program_path.h"
#include "ubique/cli/verb.h"
#include "ubique/dist/place.h"

namespace ubique::cli {
namespace {

constexpr const char* kSecureShell =
    "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=3";

struct LaunchFlags {
  int count = 1, restarts = 0;
  double wait = 60;
  std::string logs, hosts, shell = kSecureShell;
  std::vector<std::string> words;
};

/// The value of -o in the command's words, else the folder that it uses without.
std::filesystem::path output_of(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if ((word == "-o" || word == "--output") && i + 1 < words.size()) return words[i + 1];
    if (word.starts_with("--output=")) return word.substr(word.find('=') + 1);
    if (word.starts_with("-o") && word.size() > 2) return word.substr(2);
  }
  return words.size() > 1 ? std::filesystem::path("runs") / words[1] : std::filesystem::path();
}

/// A command that was once accepted is wrong no more: then a port is taken, or what is left of the
/// start before is still in the way.
bool worth_another_start(int code, int attempt) {
  const bool refused = code == static_cast<int>(ExitCode::Usage) && attempt == 0;
  return code != 0 && !refused && code != static_cast<int>(ExitCode::Interrupted) && !interrupted();
}

/// So that K restarts are not used up within seconds by a fault that needs time to pass.
void pause_after(int code) {
  constexpr int kTenths = 50;
  if (code != static_cast<int>(ExitCode::Usage)) return;
  for (int i = 0; i < kTenths && !interrupted(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

void check_command(const LaunchFlags& flags) {
  check(!flags.words.empty(), ErrorKind::Usage,
        "[cli.launch] which command? Write it after `--`: ubique launch -n {} -- train FAMILY ...",
        flags.count);
  const auto& verb = flags.words.front();
  check(verb == "train" || verb == "run" || verb == "evaluate", ErrorKind::Usage,
        "[cli.launch] this command is not shared out among processes; got '{}', expected train, "
        "run or evaluate.",
        verb);
  check(verb == "train" || flags.restarts == 0, ErrorKind::Usage,
        "[cli.launch] --restarts goes on from a checkpoint, which only a training has; got '{}', "
        "expected 'train'.",
        verb);
}

/// Logs of other commands than trainings are kept only if something went wrong: their folder of
/// results has nothing but results.
class RankLogs {
 public:
  explicit RankLogs(const LaunchFlags& flags)
      : passing_(flags.logs.empty() && flags.words.front() != "train") {
    folder_ = !flags.logs.empty() ? std::filesystem::path(flags.logs)
              : passing_          ? std::filesystem::temp_directory_path() /
                               fmt::format("ubique-ranks-{}", ::getpid())
                         : output_of(flags.words) / "ranks";
  }
  const std::filesystem::path& folder() const { return folder_; }
  void end(int code) const {
    const bool kept = !passing_ || (code != 0 && code != static_cast<int>(ExitCode::Input));
    std::error_code ignored;
    if (!kept) std::filesystem::remove_all(folder_, ignored);
  }

 private:
  bool passing_;
  std::filesystem::path folder_;
};

RanksPlan first_plan(const LaunchFlags& flags, const RankLogs& logs) {
  RanksPlan plan;
  plan.count = flags.count;
  plan.shell = split(flags.shell, ' ');
  plan.folder = std::filesystem::current_path();
  plan.logs = logs.folder();
  plan.words = flags.words;
  plan.words.insert(plan.words.begin(), program_path());
  return plan;
}

/// Who takes part in the next start; false: interrupted.
bool find_hosts(const LaunchFlags& flags, RanksPlan& plan) {
  const auto hosts = split(flags.hosts, ',');
  if (hosts.empty()) return true;
  check(!plan.shell.empty(), ErrorKind::Usage,
        "[cli.launch] --shell is empty; expected a program such as ssh.");
  const HostQuestion question{plan.shell, plan.folder, output_of(flags.words) / "checkpoints",
                              plan.words.front()};
  plan.hosts = plan.attempt == 0
                   ? all_hosts(hosts, question)
                   : hosts_for_restart(hosts, question, plan.hosts.front(), flags.wait);
  return !plan.hosts.empty();
}

/// Where rank 0 listens. On another host nobody can look for a free port: then a number of this
/// launcher's own, another one for every start, as the last one may still be taken.
int meeting_port(const RanksPlan& plan) {
  if (plan.hosts.empty()) return dist::free_port();
  constexpr int kFirst = 20000, kPorts = 10000;
  const auto asked = parse_number(dist::process_environment("MASTER_PORT").value_or(""));
  return asked ? static_cast<int>(*asked) + plan.attempt
               : kFirst + (static_cast<int>(::getpid()) + plan.attempt) % kPorts;
}

ExitCode run_launch(const LaunchFlags& flags) {
  check_command(flags);
  const RankLogs logs(flags);
  auto plan = first_plan(flags, logs);
  watch_interrupts();
  for (;; ++plan.attempt) {
    if (!find_hosts(flags, plan)) return ExitCode::Interrupted;
    plan.port = meeting_port(plan);
    if (plan.size() > 1) make_folder(plan.logs);
    Ranks ranks(plan);
    const int code = supervise(ranks, plan);
    if (plan.attempt >= flags.restarts || !worth_another_start(code, plan.attempt)) {
      logs.end(code);
      constexpr int kMostKnown = 130;
      return static_cast<ExitCode>(code > kMostKnown ? 1 : code);
    }
    pause_after(code);
    if (std::ranges::find(plan.words, "--resume") == plan.words.end()) {
      plan.words.emplace_back("--resume");
    }
    log::info("starting again from the last checkpoint ({} of {} restarts)", plan.attempt + 1,
              flags.restarts);
  }
}

std::function<ExitCode()> setup_launch(CLI::App& app) {
  auto flags = std::make_shared<LaunchFlags>();
  app.add_option("-n,--processes", flags->count,
                 "processes on this machine, or on each of the hosts")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->required();
  app.add_option("--restarts", flags->restarts,
                 "start again from the last checkpoint, so many times, if a process dies (0)")
      ->type_name("K")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--logs", flags->logs,
                 "folder for rank-1.log and so on (ranks/ in the run folder of a training)")
      ->type_name("DIR");
  app.add_option("--hosts", flags->hosts,
                 "machines, by names that ssh knows; the first one's must be known to all")
      ->type_name("A,B,...");
  app.add_option("--wait", flags->wait,
                 "seconds that a restart waits for a host that is away, before it goes on with the "
                 "others (60)")
      ->type_name("S")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--shell", flags->shell,
                 "instead of ssh and its options: a program that gets HOST and COMMAND")
      ->type_name("PROGRAM");
  app.add_option("command", flags->words, "`train`, `run` or `evaluate` and its words, after `--`")
      ->type_name("COMMAND...");
  return [flags] { return run_launch(*flags); };
}

}  // namespace

Verb launch_verb() {
  return {.name = "launch",
          .summary = "train, run or evaluate in several processes of this machine or of several",
          .description =
              "Starts the command N times and tells each process its place (RANK, WORLD_SIZE, "
              "LOCAL_RANK), as torchrun does. They train one model together: the batch is shared "
              "out, rank 0 shows the progress and writes the run folder. `run` and `evaluate` "
              "share out files, puzzles, prompts and songs; results are those of one process. "
              "Ctrl-C stops all with one checkpoint; if a "
              "process dies, its name and last lines are shown and all end, or go on from the "
              "last checkpoint with --restarts. With --hosts N processes on each host, started by "
              "ssh in this folder, which must be there as well as the program and the data; a host "
              "that stays away is left out by a restart. docs/how-to/several-machines.md.",
          .examples = {{"ubique launch -n 2 -- train meshnet -d data/arc -o runs/lesion",
                        "one process for each of two devices"},
                       {"ubique launch -n 4 --restarts 3 -- train trm -d data/sudoku",
                        "goes on if a process dies"},
                       {"ubique launch -n 4 --hosts node1,node2 --restarts 3 -- train trm -d "
                        "data/sudoku",
                        "eight processes; goes on with one host if the other is lost"},
                       {"ubique launch -n 2 -- run meshnet scans/ --model runs/lesion -o out",
                        "every second scan on each of two devices"}},
          .setup = setup_launch};
}

}  // namespace ubique::cli
