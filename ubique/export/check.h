// SPDX-License-Identifier: Apache-2.0
// Compares the output of an exported file with the model's: an export succeeds only if they agree.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ubique/engine/contract/graph.h"

namespace ubique::exporting {

/// Similarity of two single-channel maps, by the metrics of saliency prediction; means over
/// samples.
struct MapScores {
  double correlation = 1;  ///< CC of the values
  double divergence =
      0;  ///< KLD to the model's in nats, both shifted to minimum 0 and scaled to sum 1
};

/// How many of the voxels or pixels that the model gives this class have it in the exported file.
struct ClassAgreement {
  std::string name;
  std::int64_t expected = 0, agreeing = 0;
};

struct CheckedFile {
  std::int64_t bytes = 0;  ///< of all its files
  bool labels = false;     ///< the output is labels
  double agreement = 1;    ///< share of labels that equal the model's
  double difference = 0;   ///< of values: the largest, as a share of the largest value
  std::vector<ClassAgreement> classes = {};  ///< in order; empty if the output has none
  std::optional<MapScores> map;              ///< for single-channel maps
  std::string runtime = "ubique";            ///< that computed the output
  std::string decisions = "labels";          ///< what `agreement` is a share of
};

/// "99.87 % of labels agree (lesion 97.10 %, ...); not seen: skull": the lowest classes, and those
/// on which the check volume says nothing.
std::string agreement_text(const CheckedFile& checked);

/// Parity error if they differ by more than rounding the weights to `dtype` explains. `place` is
/// the tag of the message.
CheckedFile compare_outputs(const at::Tensor& got, const engine::GraphExport& model, DType dtype,
                            const std::string& place);

/// The same for every output of a language model; `agreement` is that of the likeliest next tokens
/// in "logits". They are no condition: where two are nearly as likely, rounding decides.
CheckedFile compare_named_outputs(const std::map<std::string, at::Tensor>& got,
                                  const engine::GraphExport& model, DType dtype,
                                  const std::string& place);

/// Bytes of a file with its FILE.data, or of a whole folder.
std::int64_t size_of_files(const std::filesystem::path& path);

}  // namespace ubique::exporting
