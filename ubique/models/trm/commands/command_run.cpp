// SPDX-License-Identifier: Apache-2.0
// `ubique run trm`: solves puzzles from files, standard input and data folders, optionally showing
// every step; starts a chat for a chat model. Unreadable puzzles do not stop the rest.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "ubique/base/files/file.h"
#include "ubique/base/files/output_path.h"
#include "ubique/base/files/stream.h"
#include "ubique/base/terminal/log.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/engine/ranks/rank_progress.h"
#include "ubique/engine/walk/chat.h"
#include "ubique/models/trm/commands/commands.h"
#include "ubique/models/trm/use/open.h"
#include "ubique/models/trm/use/watch.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::trm {
namespace {

struct PuzzleSettings {
  std::int64_t steps = 0;
  bool fixed = false, watch = false, trace = false;
  double delay = -1;
  PuzzleInputOptions input;
};

PuzzleSettings read_puzzle_settings(const engine::Request& request) {
  const auto& config = request.config;
  PuzzleSettings settings;
  settings.steps = config.get("steps", settings.steps);
  settings.fixed = config.get("fixed", settings.fixed);
  settings.watch = config.get("watch", settings.watch);
  settings.trace = config.get("trace", settings.trace);
  const auto delay = config.find<double>("delay");
  settings.delay = delay.value_or(-1);
  settings.input.set = config.get("set", settings.input.set);
  settings.input.limit = config.get("limit", settings.input.limit);
  check(settings.steps >= 0 && settings.input.limit >= 0 && delay.value_or(0) >= 0,
        ErrorKind::Usage, "[trm.run] steps, limit and delay cannot be negative; got {}, {} and {}.",
        settings.steps, settings.input.limit, delay.value_or(0));
  check(
      !settings.watch || !settings.trace, ErrorKind::Usage,
      "[trm.run] --watch shows the steps and --trace keeps them; got both, expected one of them.");
  check(!settings.watch || request.progress != ProgressStyle::JsonLines, ErrorKind::Usage,
        "[trm.run] standard output cannot hold both; got --json and --watch, expected one of "
        "them.");
  return settings;
}

/// The answers in the order of the inputs; none for puzzles after the user stopped the run.
struct SolvedPuzzles {
  std::vector<std::optional<PuzzleAnswer>> answers;
  std::vector<std::vector<Solved>> traces;  ///< of --trace: every step of every puzzle
  std::string frames;                       ///< of --watch, where they are not written immediately
  std::int64_t count = 0, valid = 0, steps = 0;
  double seconds = 0;
  bool stopped = false;

  void add(std::int64_t number, PuzzleAnswer answer) {
    ++count;
    valid += answer.valid.value_or(answer.correct.value_or(false)) ? 1 : 0;
    steps += answer.solved.steps;
    answers[static_cast<std::size_t>(number)] = std::move(answer);
  }
};

/// Solves one puzzle after another and shows every step.
void watch_puzzles(Solver& solver, const std::vector<PuzzleInput>& puzzles, double delay,
                   const engine::Request& request, SolvedPuzzles& done) {
  const auto style = watch_style(delay);
  // With --quiet the frames are kept, as the output may be JSON; a terminal shows them anyway.
  const bool immediate = style.in_place || request.progress != ProgressStyle::Silent;
  const auto write = [&](std::string_view text) {
    if (!immediate) {
      done.frames += text;
      return;
    }
    request.print(text);
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
          const auto answer = make_answer(puzzle, solved);
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

Json solved_json(const Solved& solved) { return {solved.tokens, solved.steps, solved.halt}; }

Solved read_solved(const Json& json) {
  return {.tokens = json[0].get<std::vector<std::int32_t>>(), .steps = json[1], .halt = json[2]};
}

/// This rank's puzzles; for each its answer, then what --trace keeps.
std::vector<Json> solve_share(Solver& solver, const std::vector<PuzzleInput>& puzzles, bool trace,
                              engine::RankProgress& progress) {
  std::vector<Json> answers(puzzles.size()), traces(puzzles.size(), Json::array());
  Solver::Take keep_step;
  if (trace) {
    keep_step = [&](std::int64_t i, const Solved& now) {
      traces[static_cast<std::size_t>(i)].push_back(solved_json(now));
      return true;
    };
  }
  solver.solve(
      std::ssize(puzzles),
      [&](std::int64_t i, std::span<std::int32_t> tokens) {
        const auto& puzzle = puzzles[static_cast<std::size_t>(i)];
        std::ranges::copy(puzzle.tokens, tokens.begin());
        return puzzle.id;
      },
      [&](std::int64_t i, const Solved& solved) {
        answers[static_cast<std::size_t>(i)] = solved_json(solved);
        progress.advance();
        return true;
      },
      keep_step);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].is_null()) answers[i] = {{"answer", answers[i]}, {"trace", traces[i]}};
  }
  return answers;
}

std::vector<std::string> names_of(const std::vector<PuzzleInput>& puzzles) {
  std::vector<std::string> names;
  for (const auto& puzzle : puzzles) names.push_back(puzzle.name);
  return names;
}

/// All ranks, each its share.
void solve_puzzles(Solver& solver, const std::vector<PuzzleInput>& puzzles,
                   const engine::Request& request, SolvedPuzzles& done) {
  const engine::RankJobs share(std::ssize(puzzles), names_of(puzzles));
  engine::RankProgress progress({.title = "solve",
                                 .total = std::ssize(puzzles),
                                 .unit = "puzzles",
                                 .style = request.progress});
  auto mine = solve_share(solver, share.pick(puzzles), !done.traces.empty(), progress);
  progress.finish();
  const auto results = share.collect(std::move(mine));
  for (std::size_t i = 0; i < results.size(); ++i) {
    done.stopped = done.stopped || results[i].is_null();
    if (results[i].is_null()) continue;
    done.add(static_cast<std::int64_t>(i),
             make_answer(puzzles[i], read_solved(results[i]["answer"])));
    for (const auto& step : results[i]["trace"]) done.traces[i].push_back(read_solved(step));
  }
}

SolvedPuzzles solve_inputs(TrmModel& model, const PuzzleInputs& inputs,
                           const PuzzleSettings& settings, const engine::Request& request) {
  SolvedPuzzles done;
  done.answers.resize(inputs.puzzles.size());
  if (settings.trace) done.traces.resize(inputs.puzzles.size());
  const auto session = open_model_session(model, request);
  if (inputs.puzzles.empty()) return done;
  auto options = solver_options(session.plan(), static_cast<std::int64_t>(inputs.puzzles.size()));
  options.steps = settings.steps;
  options.early = !settings.fixed;
  options.should_continue = continue_until_stopped(request);
  if (settings.watch) options.slots = 1;
  Solver solver(model.trm(), probe::to_torch(session.plan().dtype.value), options);
  log::info("{}, {} puzzles, {} at once, {} {} steps", model.settings().name(),
            inputs.puzzles.size(), options.slots, options.early ? "up to" : "all",
            solver.most_steps());
  const auto start = std::chrono::steady_clock::now();
  if (settings.watch) {
    watch_puzzles(solver, inputs.puzzles, settings.delay, request, done);
  } else {
    solve_puzzles(solver, inputs.puzzles, request, done);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  done.seconds = took.count();
  return done;
}

std::string summary_of(const SolvedPuzzles& done) {
  if (done.count == 0) return "no puzzle solved";
  const auto count = static_cast<double>(done.count);
  return fmt::format("{} of {} puzzles solved, {:.1f} steps each, {:.1f} puzzles/s", done.valid,
                     done.answers.size(), static_cast<double>(done.steps) / count,
                     count / std::max(done.seconds, 1e-9));
}

std::string solutions_text(const PuzzleInputs& inputs, const SolvedPuzzles& done) {
  std::string text;
  for (std::size_t i = 0; i < done.answers.size(); ++i) {
    if (!done.answers[i]) continue;
    if (!text.empty()) text += '\n';
    text += answer_text(i + 1, inputs.puzzles[i], *done.answers[i]);
  }
  return text;
}

Json solutions_json(const PuzzleInputs& inputs, const SolvedPuzzles& done) {
  auto json = json_document("trm_run", 1);
  json["puzzles"] = Json::array();
  for (std::size_t i = 0; i < done.answers.size(); ++i) {
    if (!done.answers[i]) continue;
    json["puzzles"].push_back(answer_json(inputs.puzzles[i], *done.answers[i]));
    if (done.traces.empty()) continue;
    json["puzzles"].back()["trace"] = trace_json(inputs.puzzles[i], done.traces[i]);
  }
  json["refused"] = inputs.refused;
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
  if (settings.watch) engine::require_one_process("--watch");
  if (std::ranges::find(request.inputs, "-") != request.inputs.end()) {
    engine::require_one_process("standard input");
  }
  const auto model = open_trm(request.model);
  const auto inputs = read_puzzle_inputs(request.inputs, model->settings(), settings.input);
  for (const auto& why : inputs.refused) log::error("{}", why);
  check_output_file(request.output);
  const auto done = solve_inputs(*model, inputs, settings, request);
  engine::Outcome outcome;
  outcome.json = solutions_json(inputs, done);
  const auto text = solutions_text(inputs, done);
  log::info("{}", summary_of(done));
  if (!request.output.empty()) {
    const bool json = request.output.extension() == ".json";
    const auto content = json ? json_text(outcome.json, 2) + "\n" : text;
    if (dist::world().is_first()) write_file(request.output, content);
    outcome.text = fmt::format("{}; written to {}\n", summary_of(done), request.output.string());
  } else {
    outcome.text = settings.watch ? done.frames : text;
  }
  if (!inputs.refused.empty()) outcome.code = ExitCode::Input;
  if (done.stopped) outcome.code = ExitCode::Interrupted;
  return outcome;
}

/// Chat if a flag asks for it, or if the model is a chat model and there are no puzzles.
engine::Outcome run_trm(const engine::Request& request) {
  std::unique_ptr<TrmModel> model;
  bool chat = request.config.has("chat") || request.config.has("prompt");
  if (!chat && request.inputs.empty()) {
    model = open_trm(request.model);
    chat = model->settings().causal;
  }
  if (!chat) return run_puzzles(request);
  engine::require_one_process("a chat");
  return run_chat(request, std::move(model));
}

}  // namespace

engine::Command run_command() {
  std::vector<engine::Option> options = {
      {"--steps", "steps", "N", "maximum steps per puzzle (as trained: 16); more may solve more"},
      {"--fixed", "fixed", "", "all steps for every puzzle, without early halting"},
      {"--watch", "watch", "", "show the grid filling up, one puzzle at a time"},
      {"--trace", "trace", "", "also the grid after every step, in the JSON"},
      {"--delay", "delay", "SECONDS", "pause after each step (0.3 on a terminal)"},
      {"--set", "set", "NAME", "set of a data folder: test or train (test)"},
      {"--limit", "limit", "N", "the first N puzzles of each input"}};
  const auto chat = engine::chat_options();
  options.insert(options.end(), chat.begin(), chat.end());
  std::vector<std::pair<std::string, std::string>> examples = {
      {"ubique run trm sudoku.txt --model runs/sudoku", "the best checkpoint of a run"},
      {"echo 1.....3..4.....2 | ubique run trm - --model runs/small --watch",
       "a 4x4 sudoku in one line, step by step"},
      {"ubique run trm data/sudoku --model step_65100 --steps 128 --json -o solved.json",
       "a test set, with more steps than in training"}};
  const auto more = chat_examples();
  examples.insert(examples.end(), more.begin(), more.end());
  return {.verb = "run",
          .summary = "solve puzzles and show the steps, or chat with a chat model",
          .inputs = "[PUZZLES|FOLDER|-...]",
          .needs_model = true,
          .options = std::move(options),
          .examples = std::move(examples),
          .run = run_trm};
}

}  // namespace ubique::trm
