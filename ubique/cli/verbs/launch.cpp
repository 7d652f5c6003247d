// SPDX-License-Identifier: Apache-2.0
// `ubique launch -n N -- train ...`: N processes of this machine as one run, for those without
// torchrun, SLURM or MPI.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/interrupt.h"
#include "ubique/cli/launch/ranks.h"
#include "ubique/cli/serve/program_path.h"
#include "ubique/cli/verb.h"
#include "ubique/dist/place.h"

namespace ubique::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kBetweenLooks = 50ms;
// After one died, the others find out by themselves and say so.
constexpr auto kToFindOut = 30s;
constexpr auto kToEnd = 10s;

struct LaunchFlags {
  int count = 1, restarts = 0;
  std::string logs;
  std::vector<std::string> words;
};

/// The value of -o in the command's words, else the folder that it uses without.
std::filesystem::path output_of(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if ((word == "-o" || word == "--output") && i + 1 < words.size()) return words[i + 1];
    if (word.starts_with("--output=")) return word.substr(word.find('=') + 1);
  }
  return words.size() > 1 ? std::filesystem::path("runs") / words[1] : std::filesystem::path();
}

std::string end_text(const RankEnd& end) {
  constexpr int kSignalled = 128;
  if (end.code <= kSignalled || end.code == static_cast<int>(ExitCode::Interrupted)) {
    return fmt::format("ended with exit code {}", end.code);
  }
  return fmt::format("was ended by signal {}", end.code - kSignalled);
}

void say_end(const Ranks& ranks, const RanksPlan& plan, const RankEnd& end) {
  auto text = fmt::format("[cli.launch] rank {} (process {}) {}", end.rank, ranks.process(end.rank),
                          end_text(end));
  if (end.rank > 0) {
    const auto log = plan.logs / fmt::format("rank-{}.log", end.rank);
    const auto lines = last_lines(log);
    text += fmt::format("; the last lines of {}:", log.string());
    log::error("{}", text);
    for (const auto& line : split(lines, '\n')) log::error("  {}", line);
    return;
  }
  log::error("{}.", text);
}

/// Waits for all. The first that failed is reported; the others get time to find out.
int supervise(Ranks& ranks, const RanksPlan& plan) {
  int code = 0;
  bool told = false, asked = false;
  Clock::time_point failed;
  while (!ranks.all_ended()) {
    while (const auto end = ranks.next_end()) {
      if (end->code == 0 || code != 0) continue;
      code = end->code;
      failed = Clock::now();
      if (!interrupted()) say_end(ranks, plan, *end);
    }
    if (interrupted() && !std::exchange(told, true)) ranks.signal(SIGTERM);
    const auto since = Clock::now() - failed;
    if (code != 0 && since > kToFindOut && !std::exchange(asked, true)) ranks.signal(SIGTERM);
    if (code != 0 && since > kToFindOut + kToEnd) ranks.signal(SIGKILL);
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return code;
}

bool worth_another_start(int code) {
  return code != 0 && code != static_cast<int>(ExitCode::Usage) &&
         code != static_cast<int>(ExitCode::Interrupted) && !interrupted();
}

ExitCode run_launch(const LaunchFlags& flags) {
  check(!flags.words.empty(), ErrorKind::Usage,
        "[cli.launch] which command? Write it after `--`: ubique launch -n {} -- train FAMILY ...",
        flags.count);
  check(flags.words.front() == "train", ErrorKind::Usage,
        "[cli.launch] only trainings run in several processes so far; got '{}', expected 'train'.",
        flags.words.front());
  RanksPlan plan;
  plan.count = flags.count;
  plan.logs =
      flags.logs.empty() ? output_of(flags.words) / "ranks" : std::filesystem::path(flags.logs);
  plan.words = flags.words;
  plan.words.insert(plan.words.begin(), program_path());
  if (plan.count > 1) make_folder(plan.logs);
  watch_interrupts();
  for (;; ++plan.attempt) {
    plan.port = dist::free_port();
    Ranks ranks(plan);
    const int code = supervise(ranks, plan);
    if (plan.attempt >= flags.restarts || !worth_another_start(code)) {
      constexpr int kMostKnown = 130;
      return static_cast<ExitCode>(code > kMostKnown ? 1 : code);
    }
    if (std::ranges::find(plan.words, "--resume") == plan.words.end()) {
      plan.words.emplace_back("--resume");
    }
    log::info("starting again from the last checkpoint ({} of {} restarts)", plan.attempt + 1,
              flags.restarts);
  }
}

std::function<ExitCode()> setup_launch(CLI::App& app) {
  auto flags = std::make_shared<LaunchFlags>();
  app.add_option("-n,--processes", flags->count, "processes on this machine")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->required();
  app.add_option("--restarts", flags->restarts,
                 "start again from the last checkpoint, so many times, if a process dies (0)")
      ->type_name("K")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--logs", flags->logs,
                 "folder for rank-1.log and so on (ranks/ in the run folder)")
      ->type_name("DIR");
  app.add_option("command", flags->words, "`train` and its words, after `--`")
      ->type_name("COMMAND...");
  return [flags] { return run_launch(*flags); };
}

}  // namespace

Verb launch_verb() {
  return {.name = "launch",
          .summary = "train in several processes of this machine, as torchrun does",
          .description =
              "Starts the command N times and tells each process its place (RANK, WORLD_SIZE, "
              "LOCAL_RANK). They train one model together: the batch is shared out, rank 0 shows "
              "the progress and writes the run folder. Ctrl-C stops all with one checkpoint; if a "
              "process dies, its name and last lines are shown and all end, or go on from the "
              "last checkpoint with --restarts. Several machines: docs/how-to/several-machines.md.",
          .examples = {{"ubique launch -n 2 -- train meshnet -d data/arc -o runs/lesion",
                        "one process for each of two devices"},
                       {"ubique launch -n 4 --restarts 3 -- train trm -d data/sudoku",
                        "goes on if a process dies"}},
          .setup = setup_launch};
}

}  // namespace ubique::cli
