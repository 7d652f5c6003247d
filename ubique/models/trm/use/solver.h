// SPDX-License-Identifier: Apache-2.0
// Puzzles solved, as many at once as there are slots. A slot whose network wishes to halt gives its
// answer and takes the next puzzle, so no slot waits for a harder one; or all take all steps. Where
// the device can record work, a step (or all steps of a batch) is one launch. Knows no files.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ubique/device/recording.h"
#include "ubique/models/trm/net/slots.h"

namespace ubique::trm {

struct SolverOptions {
  std::int64_t slots = 64;  ///< puzzles at once
  std::int64_t steps = 0;   ///< at most; 0 = halt_max_steps. More may solve more.
  bool early = true;        ///< a puzzle is done where the network wishes to halt
  bool record = false;      ///< as the plan says
  /// Asked before every step, and before every batch that is one launch; false stops.
  std::function<bool()> goes_on = {};
};

/// What the network makes of a puzzle after so many steps.
struct Solved {
  std::vector<std::int32_t> tokens;
  std::int64_t steps = 0;
  double halt = 0;  ///< logit: above 0 it wishes to halt, being sure

  bool confident() const { return halt > 0; }
};

class Solver {
 public:
  /// Writes a puzzle's tokens (seq_len of them) and gives its id.
  using Puzzles = std::function<std::int32_t(std::int64_t puzzle, std::span<std::int32_t> tokens)>;
  /// Takes an answer; false stops.
  using Take = std::function<bool(std::int64_t puzzle, const Solved& solved)>;

  /// The network on its device, which must outlive this, computed in `dtype`. Input error for a
  /// chat model, Usage error for options that cannot be.
  Solver(const Trm& network, at::ScalarType dtype, const SolverOptions& options);
  ~Solver();

  std::int64_t most_steps() const { return most_; }
  /// Puzzles 0 to count - 1. `take` gets each once, as they are done: not in order. `watch`, if
  /// given, sees every step of every puzzle. False if somebody stopped it: answers that were not
  /// taken until then are lost.
  bool solve(std::int64_t count, const Puzzles& puzzles, const Take& take, const Take& watch = {});

 private:
  struct Desk;     // slots, and what a step reads and writes
  struct Bench;    // a batch that takes all steps in one go
  struct Seating;  // which puzzle sits where

  at::Tensor embed(const Arrivals& puzzles) const;
  Desk& desk_for(std::int64_t count);
  Bench& bench_for(std::int64_t rows);
  Desk make_desk(std::int64_t slots) const;
  Desk smaller_desk(const Desk& desk, const Seating& seating) const;
  Bench make_bench(std::int64_t rows) const;
  void step(Desk& desk) const;
  /// False if `goes_on` had it stopped: nothing was told then.
  bool all_steps(Bench& bench, const std::function<bool()>& goes_on) const;
  bool goes_on() const { return !options_.goes_on || options_.goes_on(); }
  bool solve_stepwise(std::int64_t count, const Puzzles& puzzles, const Take& take,
                      const Take& watch);
  bool solve_whole(std::int64_t count, const Puzzles& puzzles, const Take& take);

  const Trm& network_;
  TrmWeights weights_;
  SolverOptions options_;
  std::int64_t most_;
  std::unique_ptr<Desk> desk_;  // of the size asked for last
  std::unique_ptr<Bench> bench_;
};

}  // namespace ubique::trm
