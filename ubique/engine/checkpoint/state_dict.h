// SPDX-License-Identifier: Apache-2.0
// A network's tensors by name: what is trained, what is saved, what is put back. Names are those of
// the original systems.
#pragma once

#include <c10/core/Device.h>

#include <string>

#include "ubique/engine/contract/batch.h"
#include "ubique/plan/plan.h"

namespace torch::nn {
class Module;
}

namespace ubique::engine {

/// Parameters that need a gradient, each once (tied ones under their first name).
NamedTensors trainable_parameters(torch::nn::Module& network);
/// Batch norm's running statistics: what a forward pass in train mode changes.
NamedTensors running_statistics(torch::nn::Module& network);
/// Parameters and buffers; the tensors themselves, not copies.
NamedTensors state_dict(torch::nn::Module& network);
/// Copies values into the network, whatever device and layout it has. Input error that names what
/// is missing, unknown or of another shape; `where` is the file it came from.
void load_state(torch::nn::Module& network, const NamedTensors& values, const std::string& where);

/// To the plan's device, layout and, for float64, dtype. Values stay what they are.
void move_network(torch::nn::Module& network, const plan::Plan& plan, c10::Device device);

/// The tensor of that name; undefined if there is none.
at::Tensor find_tensor(const NamedTensors& tensors, const std::string& name);

}  // namespace ubique::engine
