// SPDX-License-Identifier: Apache-2.0
// What `ubique inspect` finds in a file or folder: plain data, from which both the text and the
// JSON are made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/io/tensors/safetensors_json.h"
#include "ubique/io/tensors/tensor_stats.h"

namespace ubique::cli {

/// The tensors of a model file of any format. Values are read only by `stats`.
struct TensorTable {
  std::vector<io::TensorInfo> tensors;
  std::vector<std::filesystem::path> files;
  io::Metadata metadata;  ///< texts by name, as safetensors and ONNX have them
  /// The file that a tensor is in; empty if there is only one.
  std::function<std::filesystem::path(const io::TensorInfo&)> file_of = {};
  std::function<std::optional<io::TensorStats>(const io::TensorInfo&)> stats = {};
  bool has_offsets = false;  ///< begin and end of each tensor are known
};

struct Finding {
  std::string kind;                                 ///< "PyTorch file (.pt, .pth, .bin)"
  std::vector<std::pair<std::string, Json>> facts;  ///< rows of the summary: texts, numbers, lists
  std::optional<TensorTable> table;
  std::vector<std::string> next;  ///< commands to type
};

/// What is looked at, and what tells kinds apart.
struct Sight {
  std::filesystem::path path;
  bool is_folder = false;
  std::string start;      ///< the first bytes of a file
  std::string extension;  ///< in lower case: ".pt"; of "x.nii.gz", ".gz"

  bool has(const char* name) const;  ///< is there such a file or folder in this folder?
};

/// Input error for a path that does not exist, and for a pipe or a device.
Sight look_at(const std::filesystem::path& path);

}  // namespace ubique::cli
