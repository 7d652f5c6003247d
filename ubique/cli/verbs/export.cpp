// SPDX-License-Identifier: Apache-2.0
// `ubique export`: a trained model for other runtimes. What was written is read back and computed
// with before the command says that it is done.
#include <fmt/format.h>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/family_verb.h"
#include "ubique/cli/model_writer.h"

namespace ubique::cli {
namespace {

namespace fs = std::filesystem;
using engine::Family;
using engine::Outcome;
using engine::Request;

/// The best checkpoint of the run that was last at work, for people who have just trained one.
fs::path newest_model() {
  fs::path newest;
  fs::file_time_type time;
  std::error_code error;
  for (const auto& run : fs::directory_iterator("runs", error)) {
    const auto best = run.path() / "checkpoints" / "best";
    const auto changed = fs::last_write_time(best, error);
    if (error || (!newest.empty() && changed <= time)) continue;
    newest = best;
    time = changed;
  }
  check(!newest.empty(), ErrorKind::Usage,
        "[cli.export] which model? got no --model, and there is no run in runs/; expected a "
        "checkpoint folder or a file to import.");
  log::info("the newest run's best: {}", newest.string());
  return newest;
}

std::string model_of(const Request& request) {
  const auto model = request.config.get<std::string>("model", "");
  return model.empty() ? newest_model().string() : model;
}

std::vector<engine::Option> export_options(const std::string& formats) {
  auto options = writer_options();
  options.insert(options.begin(),
                 {{"--model", "model", "PATH",
                   "a run, a checkpoint, or a file or folder to import (the newest run's best)"},
                  {"--format", "format", "NAME", formats + " (by the name of -o, else onnx)"}});
  return options;
}

std::vector<engine::Command> export_rows(const Family& family, const std::string& verb) {
  const auto own = family.graph_options();
  if (own.empty()) return {};
  const auto formats = join(all_formats(family), ", ");
  auto options = export_options(formats);
  options.insert(options.end(), own.begin(), own.end());
  return {{.verb = verb,
           .summary = fmt::format("{} networks: {}", family.name(), formats),
           .needs_device = false,
           .options = std::move(options),
           .run = [&family](const Request& request) {
             return write_model(family, request, model_of(request), "onnx");
           }}};
}

/// Whose model it is, the model itself says.
Outcome export_any(const Request& request) {
  const auto path = model_of(request);
  const auto family = engine::open_model(path)->family();
  return write_model(engine::find_family(family), request, path, "onnx");
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
       {"ubique export --format tfjs", "the newest run's best network, for BrainChop"}},
      export_rows,
      engine::Command{.verb = "export",
                      .summary = "any model",
                      .needs_device = false,
                      .options = export_options("onnx, tfjs, web, safetensors, pt"),
                      .run = export_any});
}

}  // namespace ubique::cli
