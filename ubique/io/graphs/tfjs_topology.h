// SPDX-License-Identifier: Apache-2.0
// The layers of a TensorFlow.js layers model, in file order, with their inputs.
#pragma once

#include <string>
#include <vector>

#include "ubique/io/graphs/tfjs.h"

namespace ubique::io {

/// Input error for a graph model, for layers without class or name, for names given twice, for
/// unknown inputs, and for layers that are used more than once.
std::vector<TfjsLayer> tfjs_layers(const Json& document, const std::string& file);

}  // namespace ubique::io
