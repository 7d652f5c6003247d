// SPDX-License-Identifier: Apache-2.0
// `ubique export`: a trained model for other runtimes, read back and run before it counts.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/cli/family_verb.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/export/write_model.h"

namespace ubique::cli {
namespace {

using engine::Family;
using engine::Outcome;
using engine::Request;

std::string model_of(const Request& request, const std::string& family) {
  const auto model = request.config.get<std::string>("model", "");
  return model.empty() ? engine::newest_model("runs", family).string() : model;
}

std::vector<engine::Option> export_options(const std::string& formats, const std::string& usual) {
  return {
      {"--model,--checkpoint", "model", "PATH",
       "a run, a checkpoint, or a file or folder to import (the newest run's best)"},
      {"--format", "format", "NAME",
       fmt::format("{} (by the name of -o{})", formats, usual.empty() ? "" : ", else " + usual)}};
}

void append(std::vector<engine::Option>& options, const std::vector<engine::Option>& more) {
  options.insert(options.end(), more.begin(), more.end());
}

std::vector<engine::Command> export_rows(const Family& family, const std::string& verb) {
  const auto list = family.formats();
  if (list.empty()) return {};
  const auto formats = engine::format_names(list);
  // A family without graphs has weights only: the same as `convert`.
  const bool graphs = std::ranges::any_of(list, [](const auto& f) { return bool(f.graph); });
  const std::string usual = graphs ? "onnx" : "";
  auto options = export_options(formats, usual);
  if (graphs) append(options, exporting::graph_writer_options());
  append(options, graphs ? exporting::graph_options(list) : exporting::weights_options(list));
  return {{.verb = verb,
           .summary = fmt::format("{} networks: {}", family.name(), formats),
           .needs_device = false,
           .options = std::move(options),
           .run = [&family, usual](const Request& request) {
             return exporting::write_model(family, request, model_of(request, family.name()),
                                           usual);
           }}};
}

std::vector<engine::Option> options_of_any() {
  auto options = export_options("onnx, tfjs, web, safetensors, pt", "onnx");
  append(options, exporting::graph_writer_options());
  return options;
}

/// Without a family's name: the model's files say which it is.
Outcome export_any(const Request& request) {
  const auto path = model_of(request, {});
  const auto family = engine::open_model(path)->family();
  return exporting::write_model(engine::find_family(family), request, path, "onnx");
}

}  // namespace

Verb export_verb() {
  return family_verb(
      "export", "write a model for other runtimes",
      "Writes the model for ONNX Runtime, TensorFlow.js or a browser, reads what was written back "
      "and computes with it: what does not agree with the model is removed, with exit code 5.",
      {{"ubique export meshnet --model runs/lesion/checkpoints/best -o lesion.onnx",
        "for ONNX Runtime and whatever else reads ONNX"},
       {"ubique export meshnet --model best --weights f16 --head labels --min-max -o small.onnx",
        "half the size, labels from raw intensities"},
       {"ubique export meshnet --model best --format web -o page",
        "a page that segments scans in the browser"},
       {"ubique export msinet --model best --weights f16 --format web -o page",
        "a page that shows where people look, in pictures and live"},
       {"ubique export trm --model runs/sudoku -o step_1",
        "weights that the original's code loads"},
       {"ubique export --format tfjs", "the newest run's best network, for BrainChop"}},
      export_rows,
      engine::Command{.verb = "export",
                      .summary = "any model",
                      .needs_device = false,
                      .options = options_of_any(),
                      .run = export_any});
}

}  // namespace ubique::cli
