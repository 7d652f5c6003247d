// SPDX-License-Identifier: Apache-2.0
// `ubique run trm`: puzzles from files, standard input and folders solved, or watched while they
// are; with a chat model, a conversation. What cannot be read does not stop the rest.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <iostream>

#include "ubique/base/files/file.h"
#include "ubique/base/files/output_path.h"
#include "ubique/base/files/stream.h"
#include "ubique/base/terminal/log.h"
#include "ubique/models/trm/commands/commands.h"
#include "ubique/models/trm/use/open.h"
#include "ubique/models/trm/use/watch.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::trm {
namespace {

struct PuzzleSettings {
  std::int64_t steps = 0;
  bool fixed = false, watch = false;
  double delay = -1;
  AskedOptions asked;
};

PuzzleSettings read_puzzle_settings(const engine::Request& request) {
  const auto& config = request.config;
  PuzzleSettings settings;
  settings.steps = config.get("steps", settings.steps);
  settings.fixed = config.get("fixed", settings.fixed);
  settings.watch = config.get("watch", settings.watch);
  const auto delay = config.find<double>("delay");
  settings.delay = delay.value_or(-1);
  settings.asked.set = config.get("set", settings.asked.set);
  settings.asked.limit = config.get("limit", settings.asked.limit);
  check(settings.steps >= 0 && settings.asked.limit >= 0 && delay.value_or(0) >= 0,
        ErrorKind::Usage, "[trm.run] steps, limit and delay cannot be negative; got {}, {} and {}.",
        settings.steps, settings.asked.limit, delay.value_or(0));
  check(!settings.watch || request.progress != ProgressStyle::JsonLines, ErrorKind::Usage,
        "[trm.run] standard output cannot hold both; got --json and --watch, expected one of "
        "them.");
  return settings;
}

/// What was solved until a person stopped it, in the order asked.
struct PuzzlesDone {
  std::vector<std::optional<AnsweredPuzzle>> answers;
  std::string frames;  ///< of those that were watched and could not be shown at once
  std::int64_t count = 0, valid = 0, steps = 0;
  double seconds = 0;
  bool stopped = false;

  void add(std::int64_t number, AnsweredPuzzle answer) {
    ++count;
    valid += answer.valid.value_or(answer.correct.value_or(false)) ? 1 : 0;
    steps += answer.solved.steps;
    answers[static_cast<std::size_t>(number)] = std::move(answer);
  }
};

/// One after another, every step shown.
void watch_puzzles(Solver& solver, const std::vector<AskedPuzzle>& puzzles, double delay,
                   const engine::Request& request, PuzzlesDone& done) {
  const auto style = watch_style(delay);
  // Somebody quiet may want JSON instead; on a terminal nobody does.
  const bool at_once = style.in_place || request.progress != ProgressStyle::Silent;
  const auto write = [&](std::string_view text) {
    if (!at_once) {
      done.frames += text;
      return;
    }
    write_fully(STDOUT_FILENO, std::as_bytes(std::span(text)), "standard output");
  };
  for (std::size_t i = 0; i < puzzles.size() && !done.stopped; ++i) {
    const auto& puzzle = puzzles[i];
    Watch watch(puzzle, solver.most_steps(), style, write);
    done.stopped = !solver.solve(
        1,
        [&](std::int64_t, std::span<std::int32_t> tokens) {
          std::ranges::copy(puzzle.tokens, tokens.begin());
          return puzzle.id;
        },
        [&](std::int64_t, const Solved& solved) {
          const auto answer = answered(puzzle, solved);
          const auto text = answer_text(i + 1, puzzle, answer);
          write(text.substr(0, text.find('\n') + 1) + "\n");
          done.add(static_cast<std::int64_t>(i), answer);
          return true;
        },
        [&](std::int64_t, const Solved& now) {
          watch.show(now);
          return true;
        });
  }
}

void solve_puzzles(Solver& solver, const std::vector<AskedPuzzle>& puzzles,
                   const engine::Request& request, PuzzlesDone& done) {
  const auto count = static_cast<std::int64_t>(puzzles.size());
  Progress progress(
      {.title = "solve", .total = count, .unit = "puzzles", .style = request.progress}, std::cerr);
  done.stopped = !solver.solve(
      count,
      [&](std::int64_t i, std::span<std::int32_t> tokens) {
        const auto& puzzle = puzzles[static_cast<std::size_t>(i)];
        std::ranges::copy(puzzle.tokens, tokens.begin());
        return puzzle.id;
      },
      [&](std::int64_t i, const Solved& solved) {
        done.add(i, answered(puzzles[static_cast<std::size_t>(i)], solved));
        progress.advance();
        return true;
      });
  progress.finish();
}

PuzzlesDone solve_asked(TrmModel& model, const AskedPuzzles& asked, const PuzzleSettings& settings,
                        const engine::Request& request) {
  PuzzlesDone done;
  done.answers.resize(asked.puzzles.size());
  const auto session = open_solving(model, request);
  if (asked.puzzles.empty()) return done;
  auto options = solver_options(session.plan, static_cast<std::int64_t>(asked.puzzles.size()));
  options.steps = settings.steps;
  options.early = !settings.fixed;
  options.goes_on = goes_on_until_stopped(request);
  if (settings.watch) options.slots = 1;
  Solver solver(model.trm(), probe::to_torch(session.plan.dtype.value), options);
  log::info("{}, {} puzzles, {} at once, {} {} steps", model.settings().name(),
            asked.puzzles.size(), options.slots, options.early ? "up to" : "all",
            solver.most_steps());
  const auto start = std::chrono::steady_clock::now();
  if (settings.watch) {
    watch_puzzles(solver, asked.puzzles, settings.delay, request, done);
  } else {
    solve_puzzles(solver, asked.puzzles, request, done);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  done.seconds = took.count();
  return done;
}

std::string summary_of(const PuzzlesDone& done) {
  if (done.count == 0) return "no puzzle solved";
  const auto count = static_cast<double>(done.count);
  return fmt::format("{} of {} puzzles solved, {:.1f} steps each, {:.1f} puzzles/s", done.valid,
                     done.answers.size(), static_cast<double>(done.steps) / count,
                     count / std::max(done.seconds, 1e-9));
}

std::string solutions_text(const AskedPuzzles& asked, const PuzzlesDone& done) {
  std::string text;
  for (std::size_t i = 0; i < done.answers.size(); ++i) {
    if (!done.answers[i]) continue;
    if (!text.empty()) text += '\n';
    text += answer_text(i + 1, asked.puzzles[i], *done.answers[i]);
  }
  return text;
}

Json solutions_json(const AskedPuzzles& asked, const PuzzlesDone& done) {
  auto json = json_document("trm_run", 1);
  json["puzzles"] = Json::array();
  for (std::size_t i = 0; i < done.answers.size(); ++i) {
    if (done.answers[i]) json["puzzles"].push_back(answer_json(asked.puzzles[i], *done.answers[i]));
  }
  json["refused"] = asked.refused;
  json["solved"] = done.valid;
  json["seconds"] = done.seconds;
  json["stopped"] = done.stopped;
  return json;
}

engine::Outcome run_puzzles(const engine::Request& request) {
  const auto settings = read_puzzle_settings(request);
  check(!request.inputs.empty(), ErrorKind::Usage,
        "[trm.run] which puzzles? expected a text file, CSV, a folder of a data set, or - for "
        "standard input.");
  const auto model = open_trm(request.model);
  const auto asked = read_asked(request.inputs, model->settings(), settings.asked);
  for (const auto& why : asked.refused) log::error("{}", why);
  check_output_file(request.output);
  const auto done = solve_asked(*model, asked, settings, request);
  engine::Outcome outcome;
  outcome.json = solutions_json(asked, done);
  const auto text = solutions_text(asked, done);
  log::info("{}", summary_of(done));
  if (!request.output.empty()) {
    const bool json = request.output.extension() == ".json";
    write_file(request.output, json ? outcome.json.dump(2) + "\n" : text);
    outcome.text = fmt::format("{}; written to {}\n", summary_of(done), request.output.string());
  } else {
    outcome.text = settings.watch ? done.frames : text;
  }
  if (!asked.refused.empty()) outcome.code = ExitCode::Input;
  if (done.stopped) outcome.code = ExitCode::Interrupted;
  return outcome;
}

bool wants_chat(const engine::Request& request) {
  if (request.config.has("chat") || request.config.has("prompt")) return true;
  return request.inputs.empty() && open_trm(request.model)->settings().causal;
}

engine::Outcome run_trm(const engine::Request& request) {
  if (!wants_chat(request)) return run_puzzles(request);
  auto own = request;
  own.model = engine::model_path(request.model).string();  // its tokenizer is found from there
  return run_chat(own);
}

}  // namespace

engine::Command run_command() {
  std::vector<engine::Option> options = {
      {"--steps", "steps", "N", "at most, of a puzzle (as trained: 16); more may solve more"},
      {"--fixed", "fixed", "", "all steps for all puzzles, sure or not"},
      {"--watch", "watch", "", "show the grid filling up, one puzzle at a time"},
      {"--delay", "delay", "SECONDS", "that a step stands there (0.3 on a terminal)"},
      {"--set", "set", "NAME", "of a folder: test or train (test)"},
      {"--limit", "limit", "N", "the first N puzzles of each input"}};
  const auto talk = chat_options();
  options.insert(options.end(), talk.begin(), talk.end());
  std::vector<std::pair<std::string, std::string>> examples = {
      {"ubique run trm sudoku.txt --model runs/sudoku", "the best checkpoint of a run"},
      {"echo 1.....3..4.....2 | ubique run trm - --model runs/small --watch",
       "a 4x4 sudoku in one line, step by step"},
      {"ubique run trm data/sudoku --model step_65100 --steps 128 --json -o solved.json",
       "a test set, with more steps than were trained"}};
  const auto talks = chat_examples();
  examples.insert(examples.end(), talks.begin(), talks.end());
  return {.verb = "run",
          .summary = "solve puzzles and show how, or talk with a chat model",
          .inputs = "[PUZZLES|FOLDER|-...]",
          .needs_model = true,
          .options = std::move(options),
          .examples = std::move(examples),
          .run = run_trm};
}

}  // namespace ubique::trm
