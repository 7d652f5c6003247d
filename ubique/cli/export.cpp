// SPDX-License-Identifier: Apache-2.0
// `ubique export`: a trained model as a graph for other runtimes. What was written is read back
// and computed with before the command says that it is done.
#include <fmt/format.h>

#include "ubique/base/text.h"
#include "ubique/cli/family_verb.h"
#include "ubique/engine/family.h"
#include "ubique/export/onnx_check.h"

namespace ubique::cli {
namespace {

using engine::Family;
using engine::Outcome;
using engine::Request;

exporting::OnnxOptions read_onnx_options(const Config& config) {
  const std::vector<std::string> known = {"f32", "f16", "int8"};
  const auto text = config.get<std::string>("weights", "f32");
  exporting::OnnxOptions options;
  options.half_io = config.get("half_io", false);
  if (text == "f16") {
    options.dtype = DType::F16;
  } else if (text == "int8") {
    options.dtype = DType::I8;
  } else {
    check(text == "f32", ErrorKind::Usage, "[cli.export] unknown weights; got '{}', expected {}.{}",
          text, join(known, ", "), hint(text, known));
  }
  check(!options.half_io || options.dtype == DType::F16, ErrorKind::Usage,
        "[cli.export] --half-io belongs to --weights f16; got {}.", text);
  return options;
}

Outcome export_graph(const Family& family, const Request& request) {
  const auto format = request.config.get<std::string>("format", "onnx");
  check(format == "onnx", ErrorKind::Usage,
        "[cli.export] unknown format; got '{}', expected onnx. (ubique convert writes weights: "
        "{}.)",
        format, join(family.formats(), ", "));
  const auto options = read_onnx_options(request.config);
  const auto model = engine::open_model(request.model, family.name());
  const auto exported = family.graph(*model, request.config);
  check(exported.has_value(), ErrorKind::Usage, "[cli.export] {} has no export to {} yet.",
        family.name(), format);
  request.config.finish();
  const auto path = request.output.empty() ? std::filesystem::path(exported->graph.name + ".onnx")
                                           : request.output;
  const auto checked = exporting::export_onnx(*exported, options, path);
  auto json = json_document("export", 1);
  json["model"] = request.model;
  json["file"] = path.string();
  json["format"] = format;
  json["bytes"] = checked.bytes;
  json["difference"] = checked.difference;
  json["agreement"] = checked.agreement;
  return {fmt::format("{} -> {} ({}), read back and computed with: {}\n", request.model,
                      path.string(), human_bytes(checked.bytes),
                      checked.labels
                          ? fmt::format("{:.2f} % of labels agree", 100 * checked.agreement)
                          : fmt::format("off by {:.1g} of the largest value", checked.difference)),
          json, ExitCode::Ok};
}

std::vector<engine::Command> export_rows(const Family& family, const std::string& verb) {
  auto options = family.graph_options();
  if (options.empty()) return {};
  options.insert(options.begin(),
                 {{"--format", "format", "NAME", "onnx"},
                  {"--weights", "weights", "NAME", "f32, f16 or int8 (a scale per channel)"},
                  {"--half-io", "half_io", "", "with f16: input and output are f16 too"}});
  return {{.verb = verb,
           .summary = fmt::format("{} networks as ONNX", family.name()),
           .needs_model = true,
           .needs_device = false,
           .options = std::move(options),
           .run = [&family](const Request& request) { return export_graph(family, request); }}};
}

}  // namespace

Verb export_verb() {
  return family_verb(
      "export", "write a model for other runtimes",
      "Writes the model as a graph, reads the file back and computes with it: what does not agree "
      "with the model is removed, with exit code 5.",
      {{"ubique export meshnet --model runs/lesion/checkpoints/best -o lesion.onnx",
        "for ONNX Runtime and whatever else reads ONNX"},
       {"ubique export meshnet --model best --weights f16 --head labels --min-max -o small.onnx",
        "half the size, labels from raw intensities"}},
      export_rows);
}

}  // namespace ubique::cli
