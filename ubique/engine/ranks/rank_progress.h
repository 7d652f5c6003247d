// SPDX-License-Identifier: Apache-2.0
// The progress of jobs that ranks share: rank 0 has one bar for all of them, the others none.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "ubique/base/terminal/progress.h"
#include "ubique/dist/world.h"

namespace ubique::engine {

class RankProgress {
 public:
  /// `options.total` counts the jobs of all ranks. On standard error.
  explicit RankProgress(const Progress::Options& options, const dist::World& world = dist::world());

  /// This rank did so many. Thread-safe.
  void advance(std::int64_t steps = 1, std::string note = {});
  /// All ranks: waits for the others, whose progress is still shown.
  void finish();

 private:
  void show(std::int64_t done, std::string note = {});
  std::int64_t noted_by_all() const;

  const dist::World& world_;
  bool shared_;  // the ranks note what they did
  Progress bar_;
  std::int64_t total_;
  std::int64_t own_before_ = 0, all_before_ = 0;  // noted for earlier lists
  std::int64_t done_ = 0, shown_ = 0;             // by this rank; in the bar
  std::mutex mutex_;
};

}  // namespace ubique::engine
