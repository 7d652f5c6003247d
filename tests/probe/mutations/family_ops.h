// SPDX-License-Identifier: Apache-2.0
// The ops of LibTorch that the families (and the probes before them) call on a device, by the
// pretend device's ledger. Two tests keep the list true: families_test.cpp finds no other op in the
// ledger, and tests/backend/sham/probes_test.cpp makes each of them wrong, which a probe must
// notice.
#pragma once

#include <set>
#include <string>

namespace ubique::test {

// clang-format off
inline const std::set<std::string> kProbedOps = {
    "_log_softmax", "_log_softmax_backward_data", "_softmax", "_softmax_backward_data", "abs",
    "add", "addcdiv", "addcmul", "addmm", "all", "amax", "amin", "argmax", "atan2", "baddbmm",
    "bernoulli_", "bmm", "cat", "clamp_max", "clamp_min", "convolution", "convolution_backward", "cos",
    "div", "dot", "elu", "elu_backward", "embedding_dense_backward", "eq", "exp", "expm1",
    "floor", "gather", "ge", "gelu", "gelu_backward", "gt", "index_add", "index_copy", "index_select",
    "isneginf", "le", "lerp", "linalg_vector_norm", "log", "log1p", "log_sigmoid_forward",
    "logical_and", "logical_not", "logical_or", "lt", "masked_fill_", "max", "max_pool2d_with_indices",
    "max_pool2d_with_indices_backward", "mean", "mm", "mul", "native_batch_norm",
    "native_batch_norm_backward", "native_group_norm", "native_group_norm_backward", "native_layer_norm", "native_layer_norm_backward", "ne", "neg", "nll_loss_backward", "nll_loss_forward", "pow",
    "reciprocal", "relu", "relu_", "replication_pad1d", "replication_pad1d_backward", "rsqrt", "scatter", "scatter_add", "sgn", "sigmoid",
    "sigmoid_backward", "sign", "silu", "sin", "sqrt", "sub", "sum", "tanh", "tanh_backward", "threshold_backward",
    "topk", "tril", "upsample_bilinear2d", "upsample_bilinear2d_backward", "upsample_nearest2d", "upsample_nearest2d_backward",
    "where",
};
// clang-format on

/// They move or make values and compute none; attention has planted faults of its own (sdpa_*).
inline const std::set<std::string> kMovingOps = {
    "_local_scalar_dense", "arange", "copy_", "fill_", "zero_", "scaled_dot_product_attention"};

}  // namespace ubique::test
