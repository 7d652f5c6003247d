// SPDX-License-Identifier: Apache-2.0
// ONNX files that are handed out only after they were read back and computed with.
#pragma once

#include <filesystem>

#include "ubique/export/onnx.h"

namespace ubique::exporting {

struct CheckedFile {
  std::int64_t bytes = 0;  ///< of all its files
  bool labels = false;     ///< the output is labels
  double agreement = 1;    ///< share of labels that are the model's
  double difference = 0;   ///< else: largest to the model's, as a share of the largest value
};

/// Parity error, and no file left, if what was written computes something else. Usage error if
/// `path` exists.
CheckedFile export_onnx(const engine::GraphExport& model, const OnnxOptions& options,
                        const std::filesystem::path& path);

}  // namespace ubique::exporting
