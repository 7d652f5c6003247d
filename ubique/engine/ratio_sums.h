// SPDX-License-Identifier: Apache-2.0
// Sums and counts of ratios over several updates, still on the device. Adding does not wait.
#pragma once

#include <span>
#include <vector>

#include "ubique/engine/batch.h"

namespace ubique::engine {

class RatioSums {
 public:
  /// Of one update; always of the same names.
  void add(const std::vector<Ratio>& ratios);
  /// Device tensors of one value each, in the order in which means() wants their values.
  std::vector<at::Tensor> scalars() const;
  /// From the values of scalars(); a ratio of nothing is left out.
  Scores means(std::span<const double> values) const;
  void clear();

 private:
  std::vector<std::string> names_;
  at::Tensor sums_;  // (2, ratios) f32: sums, counts
};

}  // namespace ubique::engine
