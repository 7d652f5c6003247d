// SPDX-License-Identifier: Apache-2.0
// The functions behind the mutation table, which change arguments, results and registrations.
#pragma once

#include "mutations.h"

namespace ubique::backend::sham {

// Before the CPU's kernel runs.
void ignore_strides(const std::string& op, Arguments arguments);
void ignore_offsets(const std::string& op, Arguments arguments);
void ignore_weight_offset(const std::string& op, Arguments arguments);
void lose_strided_output(const std::string& op, Arguments arguments);

// After it ran.
void bend_all_results(const std::string& op, Arguments arguments, Results results);
void bend_first_result(const std::string& op, Arguments arguments, Results results);
void bend_conv3d_contiguous(const std::string& op, Arguments arguments, Results results);
void bend_conv3d_channels_last(const std::string& op, Arguments arguments, Results results);
void cut_long_conv1d(const std::string& op, Arguments arguments, Results results);
void bend_batch_norm_backward(const std::string& op, Arguments arguments, Results results);
void bend_frozen_layer_norm(const std::string& op, Arguments arguments, Results results);
void draw_impossible(const std::string& op, Arguments arguments, Results results);
void restart_cumsum(const std::string& op, Arguments arguments, Results results);
void sum_in_half(const std::string& op, Arguments arguments, Results results);

// Instead of it.
void install_wrong_linear(std::vector<torch::Library>& libraries);
void install_autocast_off(std::vector<torch::Library>& libraries);

/// Non-contiguous in every memory format, without overlapping elements.
bool is_strided_view(const at::Tensor& tensor);
/// The slice read from the start of its storage; a tensor with steps in its last dimension is
/// returned as it is.
at::Tensor read_from_start(const at::Tensor& tensor);
/// The memory read as if the tensor were contiguous.
at::Tensor read_as_contiguous(const at::Tensor& tensor);

}  // namespace ubique::backend::sham
