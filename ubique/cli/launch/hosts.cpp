// SPDX-License-Identifier: Apache-2.0
// One short command on every host, all at the same time; then who takes part.
#include "ubique/cli/launch/hosts.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

#include "ubique/base/error.h"
#include "ubique/base/files/process.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/interrupt.h"

extern "C" char** environ;

namespace ubique::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLongestAnswer = 20s;
constexpr auto kBetweenQuestions = 1s;
constexpr std::string_view kReady = "ubique-host-ready", kCheckpoint = "ubique-checkpoint-seen";

std::string in_quotes(std::string_view text) {
  std::string line = "'";
  for (const char c : text) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return line + "'";
}

/// Prints the two words above, or on stderr what is missing.
std::string question_line(const HostQuestion& question) {
  return fmt::format(
      "cd {0} && if [ -x {1} ]; then if [ -n \"$(ls -A {2} 2>/dev/null)\" ]; then echo {3}; fi; "
      "echo {4}; else echo no program {1} >&2; exit 1; fi",
      in_quotes(question.folder.string()), in_quotes(question.program),
      in_quotes(question.checkpoints.string()), kCheckpoint, kReady);
}

/// What the program writes until it ends; nothing if it takes longer.
std::optional<std::string> read_until(const PipedProgram& program, Clock::time_point deadline) {
  std::string text;
  std::array<char, 4096> bytes{};
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd wanted{program.descriptor(), POLLIN, 0};
    if (left <= 0ms || interrupted()) return std::nullopt;
    if (::poll(&wanted, 1, static_cast<int>(std::min(left, 200ms).count())) <= 0) continue;
    const auto got = ::read(program.descriptor(), bytes.data(), bytes.size());
    if (got <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

HostAnswer answer_of(const std::string& host, PipedProgram& program, Clock::time_point deadline) {
  HostAnswer answer{.host = host};
  const auto text = read_until(program, deadline);
  if (!text) {
    answer.why = fmt::format("no answer within {} seconds", kLongestAnswer.count());
    return answer;
  }
  const int code = program.finish();
  answer.has_checkpoint = text->find(kCheckpoint) != std::string::npos;
  answer.ready = code == 0 && text->find(kReady) != std::string::npos;
  answer.why = program.stderr_tail();
  if (answer.why.empty()) answer.why = fmt::format("exit code {}", code);
  return answer;
}

std::string reasons(const std::vector<HostAnswer>& answers) {
  std::vector<std::string> texts;
  for (const auto& answer : answers) {
    if (!answer.ready) texts.push_back(fmt::format("{} (\"{}\")", answer.host, answer.why));
  }
  return join(texts, ", ");
}

bool all_ready(const std::vector<HostAnswer>& answers) {
  return std::ranges::all_of(answers, &HostAnswer::ready);
}

/// Those that answer; asks again and again until all do or the time is over.
std::vector<HostAnswer> wait_for_hosts(const std::vector<std::string>& hosts,
                                       const HostQuestion& question, double seconds) {
  const auto begin = Clock::now();
  for (bool told = false;;) {
    auto answers = ask_hosts(hosts, question);
    const std::chrono::duration<double> passed = Clock::now() - begin;
    if (interrupted() || all_ready(answers) || passed.count() >= seconds) return answers;
    if (!std::exchange(told, true)) {
      log::info("waiting up to {:g} seconds for {}", seconds, reasons(answers));
    }
    std::this_thread::sleep_for(kBetweenQuestions);
  }
}

/// The host of the next rank 0, which reads the checkpoint and writes the run folder.
std::string next_leader(const std::vector<HostAnswer>& answers, const std::string& leader) {
  const auto is_leader = [&](const HostAnswer& answer) {
    return answer.ready && answer.host == leader;
  };
  if (std::ranges::any_of(answers, is_leader)) return leader;
  const auto able = std::ranges::find_if(
      answers, [](const HostAnswer& answer) { return answer.ready && answer.has_checkpoint; });
  check(able != answers.end(), ErrorKind::Device,
        "[cli.launch] {} stays away, and no other host sees a checkpoint of the run; got no answer "
        "from {}, expected one, or a run folder (-o) that all hosts share. Start again with "
        "--resume when it is back.",
        leader, reasons(answers));
  return able->host;
}

void check_list(const std::vector<std::string>& hosts) {
  std::set<std::string> seen;
  for (const auto& host : hosts) {
    check(seen.insert(host).second, ErrorKind::Usage,
          "[cli.launch] --hosts names {} twice; expected every host once. -n says how many "
          "processes each gets.",
          host);
    check(
        !host.starts_with('-'), ErrorKind::Usage,
        "[cli.launch] --hosts is a list of machines; got '{}', expected names such as node1,node2.",
        host);
  }
  const auto first = address_of(hosts.front());
  const bool only_here = first == "localhost" || first.starts_with("127.") || first == "::1";
  check(!only_here || hosts.size() == 1, ErrorKind::Usage,
        "[cli.launch] the other hosts cannot reach the first one by this name; got '{}', expected "
        "the name or address that it has in their network.",
        hosts.front());
}

}  // namespace

std::string shell_line(const std::filesystem::path& folder, const Variables& variables,
                       const std::vector<std::string>& words) {
  auto line = fmt::format("cd {} && exec env", in_quotes(folder.string()));
  for (const auto& [name, value] : variables) line += fmt::format(" {}={}", name, in_quotes(value));
  for (const auto& word : words) line += " " + in_quotes(word);
  return line + " 3<&0 </dev/null";
}

Variables variables_for_hosts() {
  constexpr std::string_view kStarts[] = {"UBIQUE_", "GLOO_"};
  constexpr std::string_view kNames[] = {"OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES",
                                         "ACE_PIPELINE_DTYPE", "NO_COLOR"};
  constexpr std::string_view kOwn[] = {"UBIQUE_TOKEN", "UBIQUE_PARENT", "UBIQUE_LAUNCHED"};
  Variables found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    const bool wanted = std::ranges::find(kNames, name) != std::end(kNames) ||
                        std::ranges::any_of(kStarts, [&](std::string_view start) {
                          return name.starts_with(start);
                        });
    if (!wanted || std::ranges::find(kOwn, name) != std::end(kOwn)) continue;
    found.emplace_back(name, text.substr(std::min(text.size(), name.size() + 1)));
  }
  return found;
}

std::string address_of(const std::string& host) { return host.substr(host.find('@') + 1); }

std::vector<HostAnswer> ask_hosts(const std::vector<std::string>& hosts,
                                  const HostQuestion& question) {
  std::vector<std::unique_ptr<PipedProgram>> programs;
  for (const auto& host : hosts) {
    auto words = question.shell;
    words.push_back(host);
    words.push_back(question_line(question));
    programs.push_back(std::make_unique<PipedProgram>(words, PipeEnd::Read));
  }
  const auto deadline = Clock::now() + kLongestAnswer;
  std::vector<HostAnswer> answers;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    answers.push_back(answer_of(hosts[i], *programs[i], deadline));
  }
  return answers;
}

std::vector<std::string> all_hosts(const std::vector<std::string>& hosts,
                                   const HostQuestion& question) {
  check_list(hosts);
  const auto answers = ask_hosts(hosts, question);
  if (interrupted()) return {};
  check(all_ready(answers), ErrorKind::Device,
        "[cli.launch] not every host can start processes; got {}, expected that `{} HOST COMMAND` "
        "works for each without a password, with this folder and this program.",
        reasons(answers), join(question.shell, " "));
  return hosts;
}

std::vector<std::string> hosts_for_restart(const std::vector<std::string>& hosts,
                                           const HostQuestion& question, const std::string& leader,
                                           double seconds) {
  const auto answers = wait_for_hosts(hosts, question, seconds);
  if (interrupted()) return {};
  std::vector<std::string> chosen = {next_leader(answers, leader)};
  for (const auto& answer : answers) {
    if (answer.ready && answer.host != chosen.front()) chosen.push_back(answer.host);
  }
  if (chosen.size() < hosts.size()) {
    log::warn("going on without {}: {} of {} hosts", reasons(answers), chosen.size(), hosts.size());
  }
  if (chosen.front() != leader) log::info("rank 0 is on {} now", chosen.front());
  return chosen;
}

}  // namespace ubique::cli
