// SPDX-License-Identifier: Apache-2.0
#include "ubique/cli/model_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/files/output_path.h"
#include "ubique/base/text/names.h"
#include "ubique/export/write.h"

namespace ubique::cli {
namespace {

namespace fs = std::filesystem;
using engine::Family;
using engine::Request;

constexpr NameTable<DType, 4> kWeights{{
    {DType::F32, "f32"},
    {DType::F16, "f16"},
    {DType::I8, "int8"},
    {DType::U8, "uint8"},
}};
const std::vector<std::string> kGraphFormats = {"onnx", "tfjs", "web"};

bool is_graph_format(const std::string& format) {
  return std::find(kGraphFormats.begin(), kGraphFormats.end(), format) != kGraphFormats.end();
}

std::string chosen_format(const Family& family, const Request& request, const std::string& usual) {
  const auto formats = all_formats(family);
  auto format = request.config.get<std::string>("format", "");
  if (format == "brainchop") format = "tfjs";  // whose folders they are
  if (format.empty() && request.output.extension() == ".onnx") format = "onnx";
  if (format.empty()) format = family.format_of(request.output);
  if (format.empty()) format = usual;
  check(std::find(formats.begin(), formats.end(), format) != formats.end(), ErrorKind::Usage,
        "[cli.convert] which format? got '{}', expected --format {}.{}", format,
        join(formats, ", "), hint(format, formats));
  return format;
}

/// int8 is ONNX's (a scale per channel), uint8 is TFJS's (a scale per weight).
DType weights_of(const Config& config, const std::string& format) {
  const auto text = config.get<std::string>("weights", "f32");
  const auto dtype = parse_name(kWeights, "cli.export", "weights", text);
  const bool fits = dtype == DType::F32 || dtype == DType::F16 ||
                    (dtype == DType::I8 && format == "onnx") ||
                    (dtype == DType::U8 && format == "tfjs");
  check(fits, ErrorKind::Usage,
        "[cli.export] --weights {} is not for {}; expected f32, f16 or int8 for onnx, f32, f16 or "
        "uint8 for tfjs, f32 or f16 for web.",
        text, format);
  return dtype;
}

fs::path default_output(const std::string& name, const std::string& format) {
  return format == "onnx" ? name + ".onnx" : name + "-" + format;
}

struct GraphWishes {
  std::string format, python;
  exporting::OnnxOptions onnx;
};

GraphWishes read_wishes(const Config& config, const std::string& format) {
  GraphWishes wishes{format, {}, {weights_of(config, format), config.get("half_io", false)}};
  check(!wishes.onnx.half_io || (format == "onnx" && wishes.onnx.dtype == DType::F16),
        ErrorKind::Usage, "[cli.export] --half-io belongs to --format onnx --weights f16.");
  const auto python = config.get<std::string>("python", "python3");
  if (config.get("verify", false)) {
    check(format == "onnx", ErrorKind::Usage,
          "[cli.export] --verify asks ONNX Runtime; got --format {}, which is read back and "
          "computed with in any case.",
          format);
    wishes.python = python;
  }
  return wishes;
}

exporting::CheckedFile write_graph(const engine::GraphExport& model, const GraphWishes& wishes,
                                   const fs::path& path) {
  if (wishes.format == "tfjs") return exporting::export_tfjs(model, wishes.onnx.dtype, path);
  if (wishes.format == "web") {
    return exporting::export_web(model, wishes.onnx.dtype, exporting::page_folder(model.page.name),
                                 path);
  }
  return exporting::export_onnx(model, wishes.onnx, path, wishes.python);
}

std::string checked_text(const exporting::CheckedFile& checked) {
  const auto values = fmt::format("off by {:.1g} of the largest value, ", checked.difference);
  const auto rest = checked.map ? fmt::format("CC {:.5f}, KLD {:.1g}", checked.map->correlation,
                                              checked.map->divergence)
                                : fmt::format("{:.2f} % of labels agree", 100 * checked.agreement);
  return fmt::format("({}), read back and computed with{}: {}{}", human_bytes(checked.bytes),
                     checked.runtime == "ubique" ? "" : " by " + checked.runtime,
                     checked.labels ? "" : values, rest);
}

std::string after_words(const std::string& format, const fs::path& path) {
  if (format == "web") {
    return fmt::format("look at it: python3 -m http.server -d {}, then http://localhost:8000\n",
                       path.string());
  }
  if (format == "tfjs" && fs::exists(path / "brainchop.json")) {
    return fmt::format("for BrainChop: put the folder into its models, and {} into its list\n",
                       (path / "brainchop.json").string());
  }
  return {};
}

engine::Outcome write_as_graph(const Family& family, const Request& request,
                               const std::string& from, engine::Model& model,
                               const std::string& format) {
  for (const auto& option : family.format_options()) {
    check(!request.config.find<std::string>(option.key), ErrorKind::Usage,
          "[cli.convert] {} is for files of weights; got --format {}, expected one of {}.",
          option.flag, format, join(family.formats(), ", "));
  }
  const auto wishes = read_wishes(request.config, format);
  auto exported = family.graph(model, format, request.config);
  check(exported.has_value() && (format != "web" || !exported->page.name.empty()), ErrorKind::Usage,
        "[cli.export] {} has no export to {} yet; expected one of {}.", family.name(), format,
        join(family.formats(), ", "));
  exported->graph.name = request.config.get<std::string>("name", exported->graph.name);
  request.config.finish();
  const auto path =
      request.output.empty() ? default_output(exported->graph.name, format) : request.output;
  make_folder_of(path);
  const auto checked = write_graph(*exported, wishes, path);
  auto json = json_document("export", 1);
  json["model"] = from;
  json["file"] = path.string();
  json["format"] = format;
  json["bytes"] = checked.bytes;
  json["difference"] = checked.difference;
  if (checked.map) {
    json["cc"] = checked.map->correlation;
    json["kld"] = checked.map->divergence;
  } else {
    json["agreement"] = checked.agreement;
  }
  json["runtime"] = checked.runtime;
  auto text = fmt::format("{} -> {} {}\n", from, path.string(), checked_text(checked));
  if (!wishes.python.empty() && checked.runtime == "ubique") {
    text +=
        fmt::format("ONNX Runtime is not in {}: checked by our own reader alone\n", wishes.python);
  }
  return {text + after_words(format, path), json, ExitCode::Ok};
}

engine::Outcome write_as_weights(const Family& family, const Request& request,
                                 const std::string& from, engine::Model& model,
                                 const std::string& format) {
  check(!request.output.empty(), ErrorKind::Usage,
        "[cli.convert] nowhere to write to; got no -o, expected a file or folder.");
  for (const auto& option : family.format_options()) {
    request.config.find<std::string>(option.key);  // the family reads it when it writes
  }
  request.config.finish();
  make_folder_of(request.output);
  family.export_model(model, format, request.output, request.config);
  auto json = json_document("convert", 1);
  json["from"] = from;
  json["to"] = request.output.string();
  json["format"] = format;
  return {fmt::format("{} -> {} ({})\n", from, request.output.string(), format), json,
          ExitCode::Ok};
}

}  // namespace

std::vector<std::string> all_formats(const Family& family) {
  auto formats = family.formats();
  if (!family.graph_options().empty()) {
    formats.insert(formats.end(), kGraphFormats.begin(), kGraphFormats.end());
  }
  return formats;
}

std::vector<engine::Option> writer_options() {
  return {{"--weights", "weights", "NAME", "f32, f16, int8 (onnx) or uint8 (tfjs)"},
          {"--half-io", "half_io", "", "onnx with f16: input and output are f16 too"},
          {"--name", "name", "NAME", "what the model is called in the file or page"},
          {"--verify", "verify", "", "onnx: ask ONNX Runtime too, where Python has it"},
          {"--python", "python", "PATH", "the Python of --verify (python3)"}};
}

engine::Outcome write_model(const Family& family, const Request& request, const std::string& given,
                            const std::string& usual) {
  const auto from = engine::model_path(given).string();
  const auto format = chosen_format(family, request, usual);
  const auto model = engine::open_model(from, family.name());
  return is_graph_format(format) ? write_as_graph(family, request, from, *model, format)
                                 : write_as_weights(family, request, from, *model, format);
}

}  // namespace ubique::cli
