// SPDX-License-Identifier: Apache-2.0
// Collects and ranks votes; computes pass@K and the submission file.
#include "ubique/data/puzzles/arc/arc_votes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/data/puzzles/arc/arc_read.h"

namespace ubique::data {

ArcVotes::ArcVotes(std::vector<ArcTask> tests, std::vector<std::string> identifiers)
    : tests_(std::move(tests)), identifiers_(std::move(identifiers)) {}

void ArcVotes::add(std::int32_t identifier, std::span<const std::int32_t> inputs,
                   std::span<const std::int32_t> predicted, double q_halt) {
  check(identifier >= 0 && static_cast<std::size_t>(identifier) < identifiers_.size(),
        ErrorKind::Input, "[data.arc_votes] puzzle id {} has no name; expected 0 to {}.",
        identifier, identifiers_.size() - 1);
  const auto& name = identifiers_[static_cast<std::size_t>(identifier)];
  if (name == "<blank>") return;
  const auto parsed = parse_variant_name(name);
  const auto input = undo_variant(parsed.variant, crop_arc(inputs));
  const auto output = undo_variant(parsed.variant, crop_arc(predicted));
  count({parsed.task, input.key()}, {output, 1, 1 / (1 + std::exp(-q_halt))});
}

void ArcVotes::count(const Question& question, const Vote& vote) {
  auto& ballot = ballots_[question];
  const auto [entry, fresh] = ballot.index_of.emplace(vote.grid.key(), ballot.votes.size());
  if (fresh) {
    ballot.votes.push_back(vote);
    return;
  }
  ballot.votes[entry->second].count += vote.count;
  ballot.votes[entry->second].confidence += vote.confidence;
}

std::vector<ArcVotes::Vote> ArcVotes::ranked(const Question& question) const {
  const auto found = ballots_.find(question);
  if (found == ballots_.end()) return {};
  auto votes = found->second.votes;
  for (auto& vote : votes) vote.confidence /= static_cast<double>(vote.count);
  std::stable_sort(votes.begin(), votes.end(), [](const Vote& a, const Vote& b) {
    return std::pair(a.count, a.confidence) > std::pair(b.count, b.confidence);
  });
  return votes;
}

Json ArcVotes::attempts_json(const std::vector<Vote>& votes, int attempts) {
  Json json;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto index = static_cast<std::size_t>(attempt) < votes.size() ? attempt : 0;
    ArcGrid grid{{1, 1}, {0}};
    if (!votes.empty() && !votes[static_cast<std::size_t>(index)].grid.cells.empty()) {
      grid = votes[static_cast<std::size_t>(index)].grid;
    }
    json[fmt::format("attempt_{}", attempt + 1)] = arc_grid_json(grid);
  }
  return json;
}

void ArcVotes::score_task(const ArcTask& task, int attempts, ArcScores& scores) const {
  const bool known = std::all_of(task.test.begin(), task.test.end(),
                                 [](const ArcPair& pair) { return pair.known; });
  scores.tasks += known ? 1 : 0;
  auto& answers = scores.submission[task.name] = Json::array();
  for (const auto& test : task.test) {
    const auto votes = ranked({task.name, test.input.key()});
    scores.without_votes += votes.empty() ? 1 : 0;
    answers.push_back(attempts_json(votes, attempts));
    const auto right = std::find_if(votes.begin(), votes.end(),
                                    [&](const Vote& vote) { return vote.grid == test.output; });
    if (!known || right == votes.end()) continue;
    for (auto& [k, share] : scores.pass) {
      if (right - votes.begin() < k) share += 1.0 / static_cast<double>(task.test.size());
    }
  }
}

ArcScores ArcVotes::result(const std::vector<int>& ks, int attempts) const {
  ArcScores scores;
  scores.submission = Json::object();
  for (const int k : ks) scores.pass.emplace_back(k, 0.0);
  for (const auto& task : tests_) score_task(task, attempts, scores);
  for (auto& [k, share] : scores.pass) {
    share /= static_cast<double>(std::max<std::int64_t>(1, scores.tasks));
  }
  return scores;
}

}  // namespace ubique::data
