// SPDX-License-Identifier: Apache-2.0
// Chooses the format, writes in it, and says how the result was checked.
#include "ubique/export/write_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/files/output_path.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/names.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/export/write.h"

namespace ubique::exporting {
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

const engine::Format& chosen_format(const std::vector<engine::Format>& formats,
                                    const Request& request, const std::string& usual) {
  const auto name = request.config.get<std::string>("format", "");
  if (!name.empty()) return engine::find_format(formats, name);
  for (const auto& format : formats) {
    if (format.suits(request.output)) return format;
  }
  return engine::find_format(formats, usual);
}

bool has_option(const engine::Format& format, const std::string& key) {
  return std::ranges::find(format.options, key, &engine::Option::key) != format.options.end();
}

/// Refuses options that only other formats read; marks the chosen format's as known.
void check_options(const std::vector<engine::Format>& formats, const engine::Format& chosen,
                   const Config& config) {
  for (const auto& format : formats) {
    for (const auto& option : format.options) {
      const bool given = config.find<std::string>(option.key).has_value();
      if (!given || has_option(chosen, option.key)) continue;
      std::vector<std::string> readers;
      for (const auto& other : formats) {
        if (has_option(other, option.key)) readers.push_back(other.name);
      }
      fail(ErrorKind::Usage, "[export.write] {} is not for {}; expected --format {}.", option.flag,
           chosen.name, join(readers, ", "));
    }
  }
}

void add_options(std::vector<engine::Option>& options, const engine::Format& format) {
  for (const auto& option : format.options) {
    const auto known = std::ranges::find(options, option.key, &engine::Option::key);
    if (known == options.end()) options.push_back(option);
  }
}

/// int8 is ONNX's (a scale per channel), uint8 is TFJS's (a scale per weight).
DType weights_of(const Config& config, const std::string& format) {
  const auto text = config.get<std::string>("weights", "f32");
  const auto dtype = parse_name(kWeights, "export.write", "weights", text);
  const bool fits = dtype == DType::F32 || dtype == DType::F16 ||
                    (dtype == DType::I8 && format == "onnx") ||
                    (dtype == DType::U8 && format == "tfjs");
  check(
      fits, ErrorKind::Usage,
      "[export.write] --weights {} is not for {}; expected f32, f16 or int8 for onnx, f32, f16 or "
      "uint8 for tfjs, f32 or f16 for web.",
      text, format);
  return dtype;
}

fs::path default_output(const std::string& name, const std::string& format) {
  return format == "onnx" ? name + ".onnx" : name + "-" + format;
}

/// A diverged training leaves such weights; they are written as they are.
void warn_of_nonfinite(engine::Model& model) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> found;
  for (const auto& [name, tensor] : engine::state_dict(model.network())) {
    if (!tensor.is_floating_point()) continue;
    const auto nan = tensor.isnan().sum().item<std::int64_t>();
    const auto infinite = tensor.isinf().sum().item<std::int64_t>();
    if (nan + infinite == 0) continue;
    found.push_back(
        fmt::format("{} ({} NaN, {} infinite, of {})", name, nan, infinite, tensor.numel()));
  }
  if (found.empty()) return;
  const auto more = found.size() - std::min(found.size(), kMostNamed);
  found.resize(std::min(found.size(), kMostNamed));
  log::warn(
      "[export.write] the model has weights that are no finite numbers: {}{}. It computes "
      "nothing useful; did its training diverge?",
      join(found, ", "), more > 0 ? fmt::format(" and {} tensors more", more) : "");
}

struct GraphWishes {
  std::string format, python;
  OnnxOptions onnx;
};

GraphWishes read_wishes(const Config& config, const std::string& format) {
  GraphWishes wishes{format, {}, {weights_of(config, format), config.get("half_io", false)}};
  check(!wishes.onnx.half_io || (format == "onnx" && wishes.onnx.dtype == DType::F16),
        ErrorKind::Usage, "[export.write] --half-io belongs to --format onnx --weights f16.");
  const auto python = config.get<std::string>("python", "python3");
  if (config.get("verify", false)) {
    check(format == "onnx", ErrorKind::Usage,
          "[export.write] --verify asks ONNX Runtime; got --format {}, which is read back and "
          "computed with in any case.",
          format);
    wishes.python = python;
  }
  return wishes;
}

CheckedFile write_graph(const engine::GraphExport& model, const GraphWishes& wishes,
                        const fs::path& path) {
  if (wishes.format == "tfjs") return export_tfjs(model, wishes.onnx.dtype, path);
  if (wishes.format == "web") {
    return export_web(model, wishes.onnx.dtype, page_folder(model.page.name), path);
  }
  return export_onnx(model, wishes.onnx, path, wishes.python);
}

std::string checked_text(const CheckedFile& checked) {
  const auto values = fmt::format("off by {:.1g} of the largest value, ", checked.difference);
  const auto rest = checked.map ? fmt::format("CC {:.5f}, KLD {:.1g}", checked.map->correlation,
                                              checked.map->divergence)
                                : agreement_text(checked);
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
                               const engine::Format& chosen) {
  const auto& format = chosen.name;
  const auto wishes = read_wishes(request.config, format);
  auto exported = chosen.graph(model, request.config);
  check(format != "web" || !exported.page.name.empty(), ErrorKind::Internal,
        "[export.write] {} has no page; expected one for its format web.", family.name());
  exported.graph.name = request.config.get<std::string>("name", exported.graph.name);
  request.config.finish();
  const auto path =
      request.output.empty() ? default_output(exported.graph.name, format) : request.output;
  make_folder_of(path);
  const auto checked = write_graph(exported, wishes, path);
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
    json["classes"] = Json::array();
    for (const auto& row : checked.classes) {
      json["classes"].push_back(
          {{"name", row.name}, {"voxels", row.expected}, {"agreeing", row.agreeing}});
    }
  }
  json["runtime"] = checked.runtime;
  auto text = fmt::format("{} -> {} {}\n", from, path.string(), checked_text(checked));
  if (!wishes.python.empty() && checked.runtime == "ubique") {
    text +=
        fmt::format("ONNX Runtime is not in {}: checked by our own reader alone\n", wishes.python);
  }
  return {text + after_words(format, path), json, ExitCode::Ok};
}

engine::Outcome write_as_weights(const Request& request, const std::string& from,
                                 engine::Model& model, const engine::Format& format) {
  check(!request.output.empty(), ErrorKind::Usage,
        "[export.write] nowhere to write to; got no -o, expected a file or folder.");
  request.config.finish();
  make_folder_of(request.output);
  format.write(model, request.output, request.config);
  auto json = json_document("convert", 1);
  json["from"] = from;
  json["to"] = request.output.string();
  json["format"] = format.name;
  return {fmt::format("{} -> {} ({})\n", from, request.output.string(), format.name), json,
          ExitCode::Ok};
}

}  // namespace

std::vector<engine::Option> graph_writer_options() {
  return {{"--weights", "weights", "NAME", "f32, f16, int8 (onnx) or uint8 (tfjs)"},
          {"--half-io", "half_io", "", "onnx with f16: input and output are f16 too"},
          {"--name", "name", "NAME", "what the model is called in the file or page"},
          {"--verify", "verify", "", "onnx: ask ONNX Runtime too, where Python has it"},
          {"--python", "python", "PATH", "the Python of --verify (python3)"}};
}

std::vector<engine::Option> weights_options(const std::vector<engine::Format>& formats) {
  std::vector<engine::Option> options;
  for (const auto& format : formats) {
    if (format.write) add_options(options, format);
  }
  return options;
}

std::vector<engine::Option> graph_options(const std::vector<engine::Format>& formats) {
  std::vector<engine::Option> options;
  for (const auto& format : formats) {
    if (format.graph) add_options(options, format);
  }
  return options;
}

engine::Outcome write_model(const Family& family, const Request& request, const std::string& given,
                            const std::string& usual) {
  const auto from = engine::model_path(given).string();
  const auto formats = family.formats();
  const auto& format = chosen_format(formats, request, usual);
  check_options(formats, format, request.config);
  const auto model = engine::open_model(from, family.name());
  warn_of_nonfinite(*model);
  return format.graph ? write_as_graph(family, request, from, *model, format)
                      : write_as_weights(request, from, *model, format);
}

}  // namespace ubique::exporting
