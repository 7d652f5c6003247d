// SPDX-License-Identifier: Apache-2.0
// A model written in any format that its family or export/ knows; what `convert` and `export`
// share.
#pragma once

#include <string>
#include <vector>

#include "ubique/engine/contract/family.h"

namespace ubique::cli {

/// What the family writes itself, then the graphs: onnx, tfjs (BrainChop's), web.
std::vector<std::string> all_formats(const engine::Family& family);

/// Options of `export` for the formats that are graphs.
std::vector<engine::Option> writer_options();

/// `format` empty: the one that the output's name suggests, else `usual`. Reads what writer_options
/// and the family's graph_options set. Everything is read back and held against the model.
engine::Outcome write_model(const engine::Family& family, const engine::Request& request,
                            const std::string& model, const std::string& usual);

}  // namespace ubique::cli
