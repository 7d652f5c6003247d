// SPDX-License-Identifier: Apache-2.0
// Gradient checkpointing: a segment of a network saves only its inputs and is computed again in the
// backward pass, with the same random numbers and the same autocast. Batch norm must check
// recomputing() and leave its statistics unchanged in the second pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

namespace ubique::engine {

/// Gives what must live while the function is computed and, the second time, until its gradients
/// are there.
using Hold = std::function<std::shared_ptr<void>()>;
using RecomputedFunction = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

/// function(inputs), with the same gradients as a plain call. `function` may use parameters freely;
/// other tensors that need a gradient must be inputs. `function` is kept until the backward pass:
/// everything it refers to must live until then. Work that is recorded (device/recording.h) must
/// not draw random numbers in it.
at::Tensor recompute(const RecomputedFunction& function, const std::vector<at::Tensor>& inputs,
                     const Hold& hold = {});

/// Is this thread computing a segment for the second time?
bool recomputing();

}  // namespace ubique::engine
