// SPDX-License-Identifier: Apache-2.0
// Writes a model in any of its family's formats; what `convert` and `export` share.
#pragma once

#include <string>
#include <vector>

#include "ubique/engine/contract/family.h"

namespace ubique::exporting {

/// Options of `export` for every format that is a graph.
std::vector<engine::Option> graph_writer_options();

/// Options of the formats of weights, or of those that are graphs, each once.
std::vector<engine::Option> weights_options(const std::vector<engine::Format>& formats);
std::vector<engine::Option> graph_options(const std::vector<engine::Format>& formats);

/// --format, else the format that the output's name means, else `usual`; Usage error if there is
/// none. Reads the options above. Everything written is read back and compared with the model.
engine::Outcome write_model(const engine::Family& family, const engine::Request& request,
                            const std::string& model, const std::string& usual);

}  // namespace ubique::exporting
