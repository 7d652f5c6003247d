// SPDX-License-Identifier: Apache-2.0
// Which activation a few elementwise ONNX operators make up together: found by computing them.
#pragma once

#include <map>
#include <span>
#include <string>

#include "ubique/io/graphs/onnx.h"
#include "ubique/kernels/conv/activation.h"

namespace ubique::meshnet {

/// `nodes` lead from the value `from` to the value `to`; `numbers` are the constants of one element
/// that they use. Input error naming `where` for an operator that is not known and for a function
/// that is none of ours.
kernels::Activation onnx_activation(std::span<const io::OnnxNode> nodes, const std::string& from,
                                    const std::string& to,
                                    const std::map<std::string, double>& numbers,
                                    const std::string& where);

}  // namespace ubique::meshnet
