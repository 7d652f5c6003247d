// SPDX-License-Identifier: Apache-2.0
// `ubique convert` and `ubique export`: a model in one format to another. What was written is read
// back and compared before the command says that it is done.
#include <fmt/format.h>

#include "ubique/base/log.h"
#include "ubique/base/text.h"
#include "ubique/cli/family_verb.h"
#include "ubique/engine/family.h"

namespace ubique::cli {
namespace {

using engine::Family;
using engine::Outcome;
using engine::Request;

/// The only input is the model; the format follows from --format or from the output's name.
std::string chosen_format(const Family& family, const Request& request) {
  const auto formats = family.formats();
  auto format = request.config.get<std::string>("format", "");
  if (format.empty()) format = family.format_of(request.output);
  check(std::find(formats.begin(), formats.end(), format) != formats.end(), ErrorKind::Usage,
        "[cli.convert] which format? got '{}', expected --format {}.{}", format,
        join(formats, ", "), hint(format, formats));
  return format;
}

Outcome convert(const Family& family, const Request& request) {
  check(!request.output.empty(), ErrorKind::Usage,
        "[cli.convert] nowhere to write to; got no -o, expected a file or folder.");
  const auto format = chosen_format(family, request);
  request.config.finish();
  const auto model = engine::open_model(request.inputs.front(), family.name());
  family.export_model(*model, format, request.output);
  auto json = json_document("convert", 1);
  json["from"] = request.inputs.front();
  json["to"] = request.output.string();
  json["format"] = format;
  return {fmt::format("{} -> {} ({})\n", request.inputs.front(), request.output.string(), format),
          json, ExitCode::Ok};
}

std::vector<engine::Command> convert_rows(const Family& family, const std::string& verb) {
  return {{.verb = verb,
           .summary = fmt::format("{} models: {}", family.name(), join(family.formats(), ", ")),
           .inputs = "MODEL",
           .needs_device = false,
           .options = {{"--format", "format", "NAME", join(family.formats(), ", ")}},
           .run = [&family](const Request& request) { return convert(family, request); }}};
}

}  // namespace

Verb convert_verb() {
  return family_verb(
      "convert", "turn a model into another format",
      "Reads a checkpoint folder or anything the family imports, writes the format asked for and "
      "reads it back: what does not hold the same numbers is removed, with exit code 5.",
      {{"ubique convert meshnet net.pt -o net.safetensors", "PyTorch to safetensors"},
       {"ubique convert meshnet runs/lesion/checkpoints/best -o web --format brainchop",
        "a folder that BrainChop loads"}},
      convert_rows);
}

}  // namespace ubique::cli
