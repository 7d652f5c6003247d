// SPDX-License-Identifier: Apache-2.0
// What a network makes of all variants of a task, put together: every variant's answer is turned
// back and votes for a grid.
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
  std::vector<std::pair<int, double>>
      pass;                        ///< K, share of tests with the answer among the first K
  Json submission;                 ///< {"task": [{"attempt_1": ..., "attempt_2": ...}]}
  std::int64_t tasks = 0;          ///< with known answers: those that count
  std::int64_t without_votes = 0;  ///< tests that no answer came for
};

class ArcVotes {
 public:
  /// `identifiers` is that of the data set.
  ArcVotes(std::vector<ArcTask> tests, std::vector<std::string> identifiers);

  /// One example's tokens, what was predicted, and the halting logit. A blank puzzle id is padding
  /// and passed over. Input error for an id that the data set has not.
  void add(std::int32_t identifier, std::span<const std::int32_t> inputs,
           std::span<const std::int32_t> predicted, double q_halt);

  /// Grids by votes, then by the mean of sigmoid(q_halt), then by who came first. A task counts
  /// with the share of its tests that are right. A list of fewer grids than attempts repeats the
  /// first; without any vote, attempts are one black cell.
  ArcScores result(const std::vector<int>& ks = {1, 2, 5, 10, 100, 1000}, int attempts = 2) const;

 private:
  struct Vote {
    ArcGrid grid;
    std::int64_t count = 0;
    double confidence = 0;  ///< sum
  };
  struct Ballot {
    std::vector<Vote> votes;                    // in the order they came
    std::map<std::string, std::size_t> places;  // of grids in votes
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
