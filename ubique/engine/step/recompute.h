// SPDX-License-Identifier: Apache-2.0
// Gradient checkpointing: a part of a network keeps its inputs and nothing else, and is computed
// again in the backward pass. The second time draws the same random numbers under the same
// autocast; a model's batch norm asks recomputing() and leaves its statistics alone.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace ubique::engine {

using RecomputedFunction = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

/// function(inputs), with the gradients that it would have had. Parameters may be used inside
/// freely; other tensors with gradient have to be inputs. `function` is kept until the backward
/// pass: it must not refer to anything that is gone by then.
at::Tensor recompute(const RecomputedFunction& function, const std::vector<at::Tensor>& inputs);

/// Is this thread computing a part for the second time?
bool recomputing();

}  // namespace ubique::engine
