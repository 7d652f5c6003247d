// SPDX-License-Identifier: Apache-2.0
// Gradients of many parameters as one row of numbers for each dtype, and back.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

class FlatGradients {
 public:
  explicit FlatGradients(const NamedTensors& parameters);

  std::size_t groups() const { return groups_.size(); }
  std::int64_t bytes() const;  ///< of one row of all groups
  /// Which parameters have a gradient: '1' or '0' each.
  std::string present() const;
  /// One row for each group; zeros where there is no gradient. Takes the gradients away.
  std::vector<at::Tensor> take() const;
  /// Sets the gradients of the parameters that are `present`.
  void set(const std::vector<at::Tensor>& rows, const std::string& present) const;
  at::Tensor empty_rows(std::size_t group) const;  ///< (0, length)

 private:
  struct Group {
    at::ScalarType dtype;
    std::vector<std::size_t> members;  // of parameters_
    std::int64_t length = 0;
  };

  std::vector<at::Tensor> parameters_;
  std::vector<Group> groups_;
};

}  // namespace ubique::engine
