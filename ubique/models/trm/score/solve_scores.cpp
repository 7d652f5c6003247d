// SPDX-License-Identifier: Apache-2.0
// Running a solver over a set and counting right answers.
#include "ubique/models/trm/score/solve_scores.h"

#include <algorithm>
#include <chrono>

#include "ubique/base/text/json.h"
#include "ubique/data/puzzles/use/puzzle_augment.h"

namespace ubique::trm {
namespace {

using Row = std::vector<std::int32_t>;

struct SolverTally {
  SolveScores sums;

  void add(const Row& labels, const Solved& solved) {
    std::int64_t labelled = 0, right = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == data::kIgnoredLabel) continue;
      ++labelled;
      right += labels[i] == solved.tokens[i] ? 1 : 0;
    }
    if (labelled == 0) return;
    const bool exact = right == labelled;
    ++sums.puzzles;
    sums.exact += exact ? 1 : 0;
    sums.tokens += static_cast<double>(right) / static_cast<double>(labelled);
    sums.halts += exact == (solved.halt >= 0) ? 1 : 0;
    sums.steps += static_cast<double>(solved.steps);
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
  SolverTally tally;
  const auto length = static_cast<std::size_t>(set.metadata.seq_len);
  Row inputs(length), labels(length);
  const auto example = [&](std::int64_t i) { return examples[static_cast<std::size_t>(i)]; };
  const auto start = std::chrono::steady_clock::now();
  tally.sums.stopped = !solver.solve(
      static_cast<std::int64_t>(examples.size()),
      [&](std::int64_t i, std::span<std::int32_t> tokens) {
        return data::load_example(set, example(i), tokens, labels);
      },
      [&](std::int64_t i, const Solved& solved) {
        const auto id = data::load_example(set, example(i), inputs, labels);
        tally.add(labels, solved);
        if (votes != nullptr) votes->add(id, inputs, solved.tokens, solved.halt);
        if (on_solved) on_solved();
        return true;
      });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  tally.sums.seconds = took.count();
  return tally.means();
}

}  // namespace ubique::trm
