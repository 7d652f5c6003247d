// SPDX-License-Identifier: Apache-2.0
// Sums over the ranks in the middle of a pass, as synchronised batch norm needs them. The ranks
// compute in rounds: in each, every rank has one micro-batch or sits out.
#pragma once

#include <string>
#include <vector>

#include "ubique/dist/world.h"

namespace ubique::engine {

class PassSums {
 public:
  explicit PassSums(const dist::World& world) : world_(world) {}

  // In every round a rank calls add_up() as often as its model needs and then finish_round(), or
  // sit_out(), or fail(). A rank that failed makes all others throw c10::OutOfMemoryError there.

  /// The sums of these numbers over the ranks of the round, the same bits on all of them.
  std::vector<double> add_up(const std::vector<double>& mine);
  /// The lowest rank of the round, after its first add_up().
  bool is_first() const { return first_ == world_.rank(); }
  void finish_round();
  void sit_out();
  /// This rank ran out of memory. Does nothing if another one did so before.
  void fail(const std::string& why);

 private:
  /// Sends one message, and throws if a rank failed.
  std::vector<std::string> exchange(const std::string& mine);

  const dist::World& world_;
  int first_ = 0;
  bool failed_ = false;
};

/// A model that may want them.
class UsesPassSums {
 public:
  virtual ~UsesPassSums() = default;
  virtual bool wants_pass_sums() const = 0;
  /// For the passes from now on; null: of this process alone.
  virtual void set_pass_sums(PassSums* sums) = 0;
};

}  // namespace ubique::engine
