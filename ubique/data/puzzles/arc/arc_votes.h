// SPDX-License-Identifier: Apache-2.0
// Test-time augmentation for ARC: the answer of every variant is mapped back to the original task
// and votes for a grid.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ubique/data/puzzles/arc/arc.h"

namespace ubique::data {

struct ArcScores {
  /// K, fraction of tests with the answer among the first K grids.
  std::vector<std::pair<int, double>> pass;
  Json submission;                 ///< {"task": [{"attempt_1": ..., "attempt_2": ...}]}
  std::int64_t tasks = 0;          ///< with known answers; only these are scored
  std::int64_t without_votes = 0;  ///< test pairs without any vote
};

class ArcVotes {
 public:
  /// `identifiers`: the names of the data set's puzzle ids.
  ArcVotes(std::vector<ArcTask> tests, std::vector<std::string> identifiers);

  /// One example's input tokens, predicted tokens and halting logit. A blank puzzle id is padding
  /// and ignored. Input error for an unknown id.
  void add(std::int32_t identifier, std::span<const std::int32_t> inputs,
           std::span<const std::int32_t> predicted, double q_halt);

  /// Ranks grids by votes, then by the mean of sigmoid(q_halt), then by order of arrival. A task
  /// scores the fraction of its tests that are right. With fewer grids than attempts the first is
  /// repeated; without any vote an attempt is one black cell.
  ArcScores result(const std::vector<int>& ks = {1, 2, 5, 10, 100, 1000}, int attempts = 2) const;

 private:
  struct Vote {
    ArcGrid grid;
    std::int64_t count = 0;
    double confidence = 0;  // sum
  };
  struct Ballot {
    std::vector<Vote> votes;                      // in order of arrival
    std::map<std::string, std::size_t> index_of;  // grid key to index in votes
  };
  using Question = std::pair<std::string, std::string>;  // task, key of its input

  void count(const Question& question, const Vote& vote);
  std::vector<Vote> ranked(const Question& question) const;
  void score_task(const ArcTask& task, int attempts, ArcScores& scores) const;
  static Json attempts_json(const std::vector<Vote>& votes, int attempts);

  std::vector<ArcTask> tests_;
  std::vector<std::string> identifiers_;
  std::map<Question, Ballot> ballots_;
};

}  // namespace ubique::data
