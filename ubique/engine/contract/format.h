// SPDX-License-Identifier: Apache-2.0
// A file format that a family's models can be written in. A family lists its formats; `convert` and
// `export` do the rest.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ubique/engine/contract/graph.h"
#include "ubique/engine/contract/model.h"
#include "ubique/engine/contract/request.h"

namespace ubique::engine {

struct Format {
  std::string name;                     ///< what --format takes: "pt", "onnx"
  std::vector<std::string> extensions;  ///< of output names that mean it: ".pt", ".pth"
  std::vector<Option> options = {};     ///< flags that this format alone reads
  /// A format of weights: writes, reads back and compares. Parity error, and nothing left behind,
  /// if they differ.
  std::function<void(Model&, const std::filesystem::path&, const Config&)> write = {};
  /// Or a format of operators ("onnx", "tfjs", "web"), which export/ writes from this graph.
  std::function<GraphExport(Model&, const Config&)> graph = {};
  std::vector<std::string> aliases = {};        ///< other names that --format takes
  std::vector<std::string> name_prefixes = {};  ///< of output names that mean it: "step_"

  bool suits(const std::filesystem::path& path) const;  ///< does the output's name mean it?
  bool is_named(const std::string& word) const;         ///< by its name or an alias
};

/// Usage error that lists the names, with a "did you mean", if there is none.
const Format& find_format(const std::vector<Format>& formats, const std::string& name);

/// "checkpoint, safetensors, pt".
std::string format_names(const std::vector<Format>& formats);

}  // namespace ubique::engine
