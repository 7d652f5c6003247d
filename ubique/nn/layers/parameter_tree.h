// SPDX-License-Identifier: Apache-2.0
// Parameters and buffers under the dotted names of a checkpoint ("model.layers.0.mlp.c_fc.weight"):
// the modules on the way exist only to give the names.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace torch::nn {
class Module;
}

namespace ubique::nn {

/// Registers `value` under the dotted name and returns it; missing modules are created.
at::Tensor add_parameter(torch::nn::Module& root, const std::string& name, const at::Tensor& value);
at::Tensor add_buffer(torch::nn::Module& root, const std::string& name, const at::Tensor& value);

}  // namespace ubique::nn
