// SPDX-License-Identifier: Apache-2.0
// What an exported file computes, held against what the model says: files are handed out only after
// that.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <optional>
#include <string>

#include "ubique/engine/contract/graph.h"

namespace ubique::exporting {

/// How alike two maps of one channel are, as saliency is scored; means over samples.
struct MapScores {
  double correlation = 1;  ///< CC, of the values
  double divergence = 0;   ///< KLD in nats from the model's, both lifted to 0 and brought to sum 1
};

struct CheckedFile {
  std::int64_t bytes = 0;        ///< of all its files
  bool labels = false;           ///< the output is labels
  double agreement = 1;          ///< share of labels that are the model's
  double difference = 0;         ///< else: largest to the model's, as a share of the largest value
  std::optional<MapScores> map;  ///< where the output is maps of one channel
  std::string runtime = "ubique";  ///< that computed it
};

/// Parity error if they differ by more than weights of `dtype` explain. `place` begins the message.
CheckedFile compare_outputs(const at::Tensor& got, const engine::GraphExport& model, DType dtype,
                            const std::string& place);

/// Of a file with its FILE.data, or of everything in a folder.
std::int64_t size_of_files(const std::filesystem::path& path);

}  // namespace ubique::exporting
