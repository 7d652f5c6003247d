// SPDX-License-Identifier: Apache-2.0
// A network's tensors by name: trained, saved and loaded ones. Names are those of the original
// systems.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <utility>
#include <vector>

#include "ubique/engine/contract/batch.h"
#include "ubique/plan/plan.h"

namespace torch::nn {
class Module;
}

namespace ubique::engine {

/// Parameters that need a gradient, each once (tied ones under their first name).
NamedTensors trainable_parameters(torch::nn::Module& network);
/// Batch norm's running statistics, which a forward pass in train mode changes.
NamedTensors running_statistics(torch::nn::Module& network);
/// Parameters and buffers; the tensors themselves, not copies.
NamedTensors state_dict(torch::nn::Module& network);
/// Copies values into the network, on any device and in any layout. Input error that names missing
/// or unknown tensors and other shapes; `where` is the file that the values came from.
void load_state(torch::nn::Module& network, const NamedTensors& values, const std::string& where);

using NamedShapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;
/// Input error unless the tensors are exactly these: compares what a configuration implies with
/// what a file holds, before anything is allocated for either.
void check_shapes(const NamedTensors& tensors, const NamedShapes& expected,
                  const std::string& where);
/// Input error if a network of `expected` numbers, which a file's configuration describes, is far
/// larger than what the file holds. For use before the network is allocated; load_state() compares
/// the rest.
void check_stored_size(std::int64_t expected, const NamedTensors& values, const std::string& where);

/// Moves the network to `device`, in the plan's layout and, for float64, dtype.
void move_network(torch::nn::Module& network, const plan::Plan& plan, c10::Device device);

/// The tensor of that name; undefined if there is none.
at::Tensor find_tensor(const NamedTensors& tensors, const std::string& name);

}  // namespace ubique::engine
