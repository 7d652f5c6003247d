// SPDX-License-Identifier: Apache-2.0
// Running a solver over a set and counting right answers.
#include "ubique/models/trm/score/solve_scores.h"

#include <algorithm>
#include <chrono>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/data/puzzles/use/puzzle_augment.h"
#include "ubique/engine/ranks/rank_jobs.h"

namespace ubique::trm {
namespace {

using Row = std::vector<std::int32_t>;

/// An answer as ranks send it to each other: how many labels there are and how many are right,
/// steps, halting logit; where votes are counted also the grid.
Json counted(const Row& labels, const Solved& solved) {
  std::int64_t labelled = 0, right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == data::kIgnoredLabel) continue;
    ++labelled;
    right += labels[i] == solved.tokens[i] ? 1 : 0;
  }
  return {labelled, right, solved.steps, solved.halt};
}

/// A byte for each token: a set may have hundreds of thousands of grids.
Json as_bytes(const Row& tokens) {
  std::vector<std::uint8_t> bytes;
  for (const auto token : tokens) {
    check(token >= 0 && token < 256, ErrorKind::Internal, "[trm.votes] a cell of {}.", token);
    bytes.push_back(static_cast<std::uint8_t>(token));
  }
  return Json::binary(std::move(bytes));
}

Row as_row(const Json& bytes) {
  const auto& binary = bytes.get_binary();
  return {binary.begin(), binary.end()};
}

struct SolverTally {
  SolveScores sums;

  void add(const Json& answer) {
    const auto labelled = answer[0].get<double>(), right = answer[1].get<double>();
    if (labelled == 0) return;
    const bool exact = right == labelled;
    ++sums.puzzles;
    sums.exact += exact ? 1 : 0;
    sums.tokens += right / labelled;
    sums.halts += exact == (answer[3].get<double>() >= 0) ? 1 : 0;
    sums.steps += answer[2].get<double>();
  }

  SolveScores means() const {
    auto means = sums;
    const auto count = static_cast<double>(std::max<std::int64_t>(1, sums.puzzles));
    for (auto* value : {&means.exact, &means.tokens, &means.halts, &means.steps}) *value /= count;
    return means;
  }
};

}  // namespace

Json SolveScores::json() const {
  Json json;
  json["exact_accuracy"] = exact;
  json["accuracy"] = tokens;
  json["q_halt_accuracy"] = halts;
  json["steps"] = steps;
  json["puzzles"] = puzzles;
  json["seconds"] = seconds;
  json["puzzles_per_second"] = static_cast<double>(puzzles) / std::max(seconds, 1e-9);
  return json;
}

SolveScores score_solver(Solver& solver, const data::PuzzleSet& set,
                         const std::vector<std::int64_t>& examples, data::ArcVotes* votes,
                         const std::function<void()>& on_solved) {
  const engine::RankJobs jobs(std::ssize(examples));
  const auto mine = jobs.pick(examples);
  const auto length = static_cast<std::size_t>(set.metadata.seq_len);
  Row inputs(length), labels(length);
  const auto example = [&](std::int64_t i) { return mine[static_cast<std::size_t>(i)]; };
  const auto start = std::chrono::steady_clock::now();
  std::vector<Json> done(mine.size());
  solver.solve(
      std::ssize(mine),
      [&](std::int64_t i, std::span<std::int32_t> tokens) {
        return data::load_example(set, example(i), tokens, labels);
      },
      [&](std::int64_t i, const Solved& solved) {
        data::load_example(set, example(i), inputs, labels);
        auto& answer = done[static_cast<std::size_t>(i)] = counted(labels, solved);
        if (votes != nullptr) answer.push_back(as_bytes(solved.tokens));
        if (on_solved) on_solved();
        return true;
      });
  SolverTally tally;
  const auto answers = jobs.collect(std::move(done));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    tally.sums.stopped = tally.sums.stopped || answers[i].is_null();
    if (answers[i].is_null()) continue;
    tally.add(answers[i]);
    if (votes == nullptr) continue;
    const auto id = data::load_example(set, examples[i], inputs, labels);
    votes->add(id, inputs, as_row(answers[i][4]), answers[i][3].get<double>());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  tally.sums.seconds = took.count();
  return tally.means();
}

}  // namespace ubique::trm
