// SPDX-License-Identifier: Apache-2.0
// `ubique convert`: a model from one format to another, read back and compared before it counts.
#include <fmt/format.h>

#include "ubique/cli/family_verb.h"
#include "ubique/export/write_model.h"

namespace ubique::cli {
namespace {

using engine::Family;
using engine::Request;

std::vector<engine::Command> convert_rows(const Family& family, const std::string& verb) {
  const auto formats = engine::format_names(family.formats());
  auto options = exporting::weights_options(family.formats());
  options.insert(options.begin(), {"--format", "format", "NAME", formats});
  return {{.verb = verb,
           .summary = fmt::format("{} models: {}", family.name(), formats),
           .inputs = "MODEL",
           .needs_device = false,
           .options = std::move(options),
           .run = [&family](const Request& request) {
             return exporting::write_model(family, request, request.inputs.front(), "");
           }}};
}

}  // namespace

Verb convert_verb() {
  return family_verb(
      "convert", "turn a model into another format",
      "Reads a checkpoint folder or anything the family imports, writes the format asked for and "
      "reads it back: what does not hold the same numbers is removed, with exit code 5.",
      {{"ubique convert meshnet net.pt -o net.safetensors", "PyTorch to safetensors"},
       {"ubique convert meshnet net.onnx -o net --format checkpoint", "ONNX to a checkpoint"},
       {"ubique convert meshnet runs/lesion/checkpoints/best -o web --format tfjs",
        "a folder that BrainChop loads"},
       {"ubique convert msinet model_salicon_gpu.weights.h5 -o net.safetensors --layout "
        "channels_last",
        "the same numbers, kernels stored the other way"}},
      convert_rows);
}

}  // namespace ubique::cli
