// SPDX-License-Identifier: Apache-2.0
// A list of independent jobs (files, subjects, batches of a validation) shared out among the ranks
// of a run. All ranks get all results in the order of the jobs, as one process would have them, so
// that sums of them have the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/dist/world.h"

namespace ubique::engine {

class RankJobs {
 public:
  /// All ranks. `names` say what the jobs are: Usage error on every rank if another one has other
  /// jobs. Returns when all ranks have listed theirs, so that no list sees another rank's results.
  RankJobs(std::int64_t count, const std::vector<std::string>& names,
           const dist::World& world = dist::world());
  explicit RankJobs(std::int64_t count, const dist::World& world = dist::world())
      : RankJobs(count, {}, world) {}

  /// Neighbours go to different ranks: lists are often sorted by size.
  bool has(std::int64_t job) const { return job % world_.size() == world_.rank(); }
  std::vector<std::int64_t> mine() const;
  /// This rank's part of a list with one item for each job.
  template <typename T>
  std::vector<T> pick(const std::vector<T>& all) const {
    std::vector<T> part;
    for (const auto job : mine()) part.push_back(all[static_cast<std::size_t>(job)]);
    return part;
  }

  /// All ranks, after their jobs: one result for each job; null where it was not done. `done` has
  /// one for each of mine(), or fewer after a stop. Rank 0 logs the "warnings" (texts) and the
  /// "error" (a text) of results that are objects and come from other ranks.
  std::vector<Json> collect(std::vector<Json> done) const;

 private:
  void retell(std::int64_t job, const Json& result) const;

  std::int64_t count_;
  const dist::World& world_;
};

/// All ranks: does jobs 0 to count - 1, this rank its own; the results of all.
std::vector<Json> share_jobs(std::int64_t count, const std::function<Json(std::int64_t)>& job,
                             const dist::World& world = dist::world());

/// The same where a result is a list of `terms` numbers: their sums, in the order of the jobs.
std::vector<double> share_sums(std::int64_t count, std::size_t terms,
                               const std::function<std::vector<double>(std::int64_t)>& job,
                               const dist::World& world = dist::world());

/// Usage error if several processes run: `what` ("a chat") cannot be shared out.
void require_one_process(const std::string& what, const dist::World& world = dist::world());

}  // namespace ubique::engine
