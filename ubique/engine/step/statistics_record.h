// SPDX-License-Identifier: Apache-2.0
// Running statistics of norms (batch norm), and a record of their changes: where several processes
// share an update, each makes all changes in the order of the micro-batches.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace ubique::engine {

struct StatisticsChange {
  at::Tensor running, value;  ///< no value: `running` counts batches
  double share = 0;
};

/// running += share * (value - running); models change their statistics by this and the next only.
void update_running(const at::Tensor& running, const at::Tensor& value, double share);
void count_batch(const at::Tensor& counter);

/// Makes a change again, as it was made first.
void apply(const StatisticsChange& change);

/// Keeps the changes that this thread makes within a scope.
class StatisticsRecord {
 public:
  StatisticsRecord();
  ~StatisticsRecord();
  StatisticsRecord(const StatisticsRecord&) = delete;
  StatisticsRecord& operator=(const StatisticsRecord&) = delete;

  const std::vector<StatisticsChange>& changes() const { return changes_; }
  void add(StatisticsChange change) { changes_.push_back(std::move(change)); }

 private:
  std::vector<StatisticsChange> changes_;
  StatisticsRecord* outer_;
};

}  // namespace ubique::engine
