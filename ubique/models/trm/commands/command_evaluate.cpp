// SPDX-License-Identifier: Apache-2.0
// `ubique evaluate trm`: the share of a set's puzzles that is solved and the speed, with all steps
// and with early halting; for ARC, the vote of all variants of a task.
#include <fmt/format.h>

#include "ubique/base/files/file.h"
#include "ubique/base/files/output_path.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/terminal/table.h"
#include "ubique/data/puzzles/arc/arc_read.h"
#include "ubique/engine/ranks/rank_progress.h"
#include "ubique/models/trm/commands/commands.h"
#include "ubique/models/trm/data/dataset.h"
#include "ubique/models/trm/score/solve_scores.h"
#include "ubique/models/trm/use/open.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::trm {
namespace {

namespace fs = std::filesystem;

struct EvaluateSettings {
  fs::path folder, submission;
  std::string set;
  std::int64_t limit = 0, steps = 0;
};

EvaluateSettings read_evaluate_settings(const Config& config) {
  EvaluateSettings settings;
  settings.folder = config.get<std::string>("data_paths", "");
  settings.set = config.get<std::string>("set", "test");
  settings.limit = config.get("limit", settings.limit);
  settings.steps = config.get("steps", settings.steps);
  settings.submission = config.get<std::string>("submission", "");
  check(!settings.folder.empty(), ErrorKind::Usage,
        "[trm.evaluate] which puzzles? expected -d FOLDER with a data set.");
  check(settings.limit >= 0 && settings.steps >= 0, ErrorKind::Usage,
        "[trm.evaluate] limit and steps cannot be negative; got {} and {}.", settings.limit,
        settings.steps);
  check(settings.submission.empty() || settings.limit == 0, ErrorKind::Usage,
        "[trm.evaluate] a submission has all tasks; got --submission with --limit {}, expected one "
        "of them.",
        settings.limit);
  return settings;
}

/// The votes of an ARC set with test_puzzles.json; null for other sets.
std::unique_ptr<data::ArcVotes> make_votes(const EvaluateSettings& settings,
                                           const data::PuzzleSet& set) {
  const auto tasks = settings.folder / "test_puzzles.json";
  std::error_code ignored;
  if (set.metadata.layout.kind != data::PuzzleKind::Arc || !fs::exists(tasks, ignored)) {
    check(settings.submission.empty(), ErrorKind::Input,
          "[trm.evaluate] nothing to vote on for a submission; got {} of {}, expected an ARC "
          "set with test_puzzles.json.",
          settings.folder.string(), data::describe(set.metadata.layout));
    return nullptr;
  }
  const auto names = data::read_identifiers(settings.folder);
  check(!names.empty(), ErrorKind::Input,
        "[trm.evaluate] {} has no identifiers.json, which maps a puzzle to its task and variant; "
        "expected it beside test_puzzles.json. Build the set again with `ubique data trm arc`.",
        settings.folder.string());
  const auto json = parse_json(read_file(tasks), tasks.string());
  return std::make_unique<data::ArcVotes>(data::parse_arc_tasks(json, tasks.string()), names);
}

struct Evaluated {
  SolveScores fixed, early;
  std::int64_t most = 0;
  std::unique_ptr<data::ArcVotes> votes;
};

SolveScores score_with(TrmModel& model, const plan::Plan& plan, const data::PuzzleSet& set,
                       const std::vector<std::int64_t>& examples, const SolverOptions& options,
                       data::ArcVotes* votes, const engine::Request& request) {
  Solver solver(model.trm(), probe::to_torch(plan.dtype.value), options);
  engine::RankProgress progress({.title = options.early ? "early exit" : "all steps",
                                 .total = std::ssize(examples),
                                 .unit = "puzzles",
                                 .style = request.progress});
  auto scores = score_solver(solver, set, examples, votes, [&] { progress.advance(); });
  progress.finish();
  return scores;
}

std::string table_text(const Evaluated& found) {
  if (found.fixed.puzzles == 0) {
    return found.fixed.stopped ? "no puzzle was solved yet\n"
                               : "no answers are known, so there is nothing to score\n";
  }
  Table table({"", "exact", "cells", "halts right", "steps", "puzzles", "puzzles/s"});
  const auto add = [&table](const std::string& name, const SolveScores& scores) {
    const auto percent = [](double share) { return fmt::format("{:.2f} %", 100 * share); };
    table.add_row({name, percent(scores.exact), percent(scores.tokens), percent(scores.halts),
                   fmt::format("{:.2f}", scores.steps), std::to_string(scores.puzzles),
                   fmt::format("{:.1f}", static_cast<double>(scores.puzzles) /
                                             std::max(scores.seconds, 1e-9))});
  };
  add(fmt::format("all {} steps", found.most), found.fixed);
  if (found.early.puzzles > 0) add("until sure", found.early);
  return table.to_text();
}

void add_votes(const Evaluated& found, const EvaluateSettings& settings, engine::Outcome& outcome) {
  const auto scores = found.votes->result();
  Table table({"attempts", "tasks right"});
  auto& json = outcome.json["arc"];
  for (const auto& [k, share] : scores.pass) {
    table.add_row({std::to_string(k), fmt::format("{:.2f} %", 100 * share)});
    json["pass"][std::to_string(k)] = share;
  }
  json["tasks"] = scores.tasks;
  json["without_votes"] = scores.without_votes;
  outcome.text += fmt::format("\nvotes of all variants, {} tasks with known answers:\n{}",
                              scores.tasks, table.to_text());
  if (settings.submission.empty()) return;
  if (dist::world().is_first()) {
    write_file(settings.submission, json_text(scores.submission) + "\n");
  }
  json["submission"] = settings.submission.string();
  outcome.text += fmt::format("submission: {}\n", settings.submission.string());
}

engine::Outcome evaluate_trm(const engine::Request& request) {
  const auto settings = read_evaluate_settings(request.config);
  const auto model = open_trm(request.model);
  if (model->settings().causal) {
    return evaluate_chat(request, *model, {settings.folder, settings.set, settings.limit});
  }
  const auto set = data::read_puzzle_set(settings.folder, settings.set);
  check_fits(set, model->settings(), (settings.folder / settings.set).string());
  Evaluated found;
  found.votes = make_votes(settings, set);
  const auto session = open_model_session(*model, request);
  check_output_file(settings.submission);
  check_output_file(request.output);
  const auto examples = spread_examples(set.examples(), settings.limit);
  auto options = solver_options(session.plan(), static_cast<std::int64_t>(examples.size()));
  options.steps = settings.steps;
  options.should_continue = continue_until_stopped(request);
  found.most = settings.steps > 0 ? settings.steps : model->settings().halt_max_steps;
  options.early = false;
  // As in the original, the votes are the answers after all steps.
  found.fixed =
      score_with(*model, session.plan(), set, examples, options, found.votes.get(), request);
  options.early = true;
  if (!found.fixed.stopped) {
    found.early = score_with(*model, session.plan(), set, examples, options, nullptr, request);
  }
  engine::Outcome outcome;
  outcome.json = json_document("trm_evaluate", 1);
  outcome.json["model"] = request.model;
  outcome.json["device"] = session.facts().label();
  outcome.json["dtype"] = to_string(session.plan().dtype.value);
  outcome.json["batch"] = options.slots;
  outcome.json["fixed"] = found.fixed.json();
  outcome.json["early"] = found.early.json();
  outcome.text = table_text(found);
  if (found.votes) add_votes(found, settings, outcome);
  if (found.fixed.stopped || found.early.stopped) {
    outcome.text += "stopped: these are the puzzles so far\n";
    outcome.code = ExitCode::Interrupted;
  }
  if (!request.output.empty() && dist::world().is_first()) {
    write_file(request.output, json_text(outcome.json, 2) + "\n");
  }
  return outcome;
}

}  // namespace

engine::Command evaluate_command() {
  return {
      .verb = "evaluate",
      .summary = "the share of puzzles solved, with all steps and with early halting",
      .needs_model = true,
      .options = {{"-d,--data,--data-dir", "data_paths", "FOLDER", "a data set"},
                  {"--set", "set", "NAME", "test or train (test)"},
                  {"--limit", "limit", "N", "N puzzles, spread over the set (all)"},
                  {"--steps", "steps", "N", "maximum steps per puzzle (as trained: 16)"},
                  {"--submission", "submission", "FILE",
                   "for ARC: two attempts per task, in the contest's format"}},
      .examples = {{"ubique evaluate trm --model runs/sudoku -d data/sudoku", "the test set"},
                   {"ubique evaluate trm --model runs/sudoku -d data/sudoku --limit 1000 "
                    "--steps 64",
                    "with more steps than in training"},
                   {"ubique evaluate trm --model runs/chat -d data/chat",
                    "a chat model: loss and perplexity per token"},
                   {"ubique evaluate trm --model runs/arc -d data/arc1 --submission answers.json",
                    "votes of all variants, pass@K"}},
      .run = evaluate_trm};
}

}  // namespace ubique::trm
