// SPDX-License-Identifier: Apache-2.0
// Looks at the processes, and says how the first one failed.
#include "ubique/cli/launch/supervise.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/interrupt.h"

namespace ubique::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kBetweenLooks = 50ms;
// After one died, the others find out by themselves and say so.
constexpr auto kToFindOut = 30s;
constexpr auto kToEnd = 10s;

std::string end_text(const RankEnd& end) {
  constexpr int kSignalled = 128, kNoConnection = 255;
  if (end.code == kNoConnection) return "was lost: its connection broke (exit code 255)";
  if (end.code <= kSignalled || end.code == static_cast<int>(ExitCode::Interrupted)) {
    return fmt::format("ended with exit code {}", end.code);
  }
  return fmt::format("was ended by signal {}", end.code - kSignalled);
}

void say_end(const Ranks& ranks, const RanksPlan& plan, const RankEnd& end) {
  const auto place = plan.hosts.empty() ? fmt::format(" (process {})", ranks.process(end.rank))
                                        : plan.place_of(end.rank);
  auto text = fmt::format("[cli.launch] rank {}{} {}", end.rank, place, end_text(end));
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

/// Inputs that cannot be read are no end of a process: rank 0 has said all about them. The words
/// begin with the program's path.
bool worth_saying(const RanksPlan& plan, const RankEnd& end) {
  return plan.words.at(1) == "train" || end.code != static_cast<int>(ExitCode::Input);
}

}  // namespace

int supervise(Ranks& ranks, const RanksPlan& plan) {
  int code = 0;
  bool told = false, asked = false;
  Clock::time_point failed;
  while (!ranks.all_ended()) {
    while (const auto end = ranks.next_end()) {
      if (end->code == 0 || code != 0) continue;
      code = end->code;
      failed = Clock::now();
      if (!interrupted() && worth_saying(plan, *end)) say_end(ranks, plan, *end);
    }
    if (interrupted() && !std::exchange(told, true)) ranks.ask_to_stop();
    const auto since = Clock::now() - failed;
    if (code != 0 && since > kToFindOut && !std::exchange(asked, true)) ranks.ask_to_stop();
    if (code != 0 && since > kToFindOut + kToEnd) ranks.kill();
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return code;
}

}  // namespace ubique::cli
