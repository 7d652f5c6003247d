// SPDX-License-Identifier: Apache-2.0
// A network as a list of steps that each read nearby positions of the last dimension, so that it
// can run on one tile after the other, in memory that does not grow with the length, and still
// give what it gives of the whole.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace ubique::acestep {

/// Positions begin to end - 1.
struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

/// One step. At the ends of its input it pads as the network does; where these are not the ends of
/// the whole, `reach` outputs there are wrong and dropped.
struct LocalStep {
  std::int64_t reach = 0;         ///< inputs read on each side of those that an output stands on
  std::int64_t up = 1, down = 1;  ///< outputs of one input; inputs of one output
  /// `sums`: over all positions, where the step reads such; undefined = x is the whole.
  std::function<at::Tensor(const at::Tensor& x, const at::Tensor& sums)> run = {};
  /// The sums over some positions of x; empty = the step reads none.
  std::function<at::Tensor(const at::Tensor& x, Range of)> sum = {};
};

using LocalSteps = std::vector<LocalStep>;

/// A step without sums.
LocalStep local_step(std::int64_t reach, std::function<at::Tensor(const at::Tensor&)> run);

/// All steps on the whole input.
at::Tensor run_steps(const LocalSteps& steps, const at::Tensor& x);

/// The same in parts. Steps with sums need gather() first, which runs the steps before them once
/// for each, tile by tile: nothing but the sums is kept.
class TiledRun {
 public:
  /// For inputs of `length` positions in tiles of `tile`. Both are multiples of what the steps
  /// together make one output of.
  TiledRun(LocalSteps steps, std::int64_t length, std::int64_t tile);

  std::int64_t outputs() const { return lengths_.back(); }
  void gather(const at::Tensor& x);
  /// Inputs that these outputs read.
  Range inputs_of(Range outputs) const { return reads(steps_.size(), outputs).front(); }
  /// Most positions that any step then takes or gives.
  std::int64_t longest(Range outputs) const;
  /// The outputs; x holds the inputs `held`, among them inputs_of(outputs).
  at::Tensor run(const at::Tensor& x, Range held, Range outputs) const;
  /// All outputs, tile by tile, joined.
  at::Tensor run_all(const at::Tensor& x) const;

 private:
  std::vector<Range> reads(std::size_t count, Range outputs) const;
  at::Tensor run_first(std::size_t count, const at::Tensor& x, Range held, Range outputs) const;

  LocalSteps steps_;
  std::vector<std::int64_t> lengths_;  // before each step, and after the last
  std::int64_t tile_;
  std::vector<at::Tensor> sums_;  // of each step
};

}  // namespace ubique::acestep
