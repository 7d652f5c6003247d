// SPDX-License-Identifier: Apache-2.0
// The gradients of an update, summed over ranks while the backward passes run: a bucket starts when
// its last gradient is there. All ranks start buckets in the same order, which rank 0's first
// update shows.
#pragma once

#include <string>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/dist/background_sum.h"
#include "ubique/engine/contract/batch.h"
#include "ubique/engine/ranks/gradient_buckets.h"
#include "ubique/engine/ranks/gradient_hooks.h"

namespace ubique::engine {

class GradientExchange {
 public:
  /// All ranks.
  GradientExchange(const dist::World& world, const NamedTensors& parameters);

  /// All ranks: learns the order in which gradients come anew in the next update.
  void relearn();
  /// Before the passes of an update, and after an update that failed.
  void reset();
  /// All ranks: the rows that each has in this update.
  void start(std::vector<dist::RowsOfRank> ranks);
  /// Around the passes of a micro-batch of this rank. Is its row complete after them?
  void before_passes(bool completes_row);
  void after_passes();
  /// Gives the others everything that they still wait for.
  void flush();

  /// What the other ranks have to know before they finish: after flush().
  Json news() const;
  /// All ranks, with the news of each: sets the gradients of all that any rank had.
  void finish(const std::vector<Json>& news);

 private:
  void arrange(const std::vector<std::size_t>& ready);
  void accumulated(std::size_t parameter);
  void push_next();
  void complete_round();
  void skip_rounds_of_others();
  bool has_row() const;
  void keep_late_gradients();
  void set_gradients(const std::vector<GradientBucket>& buckets, const std::string& present);
  void add_late_gradients(const std::string& late);
  void learn(const std::vector<Json>& news);

  int rank_;
  NamedTensors parameters_;
  dist::BackgroundSum sums_;
  std::vector<GradientBucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // of each parameter
  std::size_t early_ = 0;               // buckets that may start during the passes, the first ones
  std::string late_;  // '1': parameters whose gradient comes in several pieces, or never
  bool learned_ = false;
  bool started_ = false;
  std::vector<dist::RowsOfRank> ranks_;

  // of the update under way
  std::int64_t round_ = 0;
  std::size_t next_ = 0;              // bucket of the round
  std::string present_;               // '1': this rank had a gradient
  std::vector<std::size_t> ready_;    // parameters as their gradients came, while learning
  std::string repeated_;              // '1': came more than once in a pass
  std::vector<at::Tensor> too_late_;  // what came after its bucket had started

  // of the passes under way
  bool passing_ = false, completes_row_ = false;
  std::vector<int> times_;            // gradients that came, of each parameter
  std::vector<std::size_t> missing_;  // parameters, of each bucket

  GradientHooks hooks_;  // the last member: they use the others
};

}  // namespace ubique::engine
