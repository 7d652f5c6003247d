// SPDX-License-Identifier: Apache-2.0
// ubique inspect: what a file or folder is, what is in it, and what can be done with it. Opens no
// device and runs nothing of what it reads.
#include <fmt/format.h>

#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/inspect/kinds.h"
#include "ubique/cli/inspect/render.h"
#include "ubique/cli/verb.h"

namespace ubique::cli {
namespace {

struct InspectOptions {
  InspectView view;
  std::string metadata_key;
  std::shared_ptr<CommonFlags> common;
};

void print_metadata_value(const io::Metadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) {
    std::vector<std::string> keys;
    for (const auto& [name, value] : metadata) keys.push_back(printable(name, 40));
    fail(ErrorKind::Usage, "[cli.inspect] no metadata of that name; got '{}', expected {}.{}", key,
         keys.empty() ? "none, for the file has no metadata" : "one of " + join(keys, ", "),
         hint(key, keys));
  }
  print_out(found->second + "\n");
}

ExitCode run_inspect(const InspectOptions& options) {
  const auto finding = find_out(options.view.path);
  if (!options.metadata_key.empty()) {
    print_metadata_value(finding.table ? finding.table->metadata : io::Metadata(),
                         options.metadata_key);
    return ExitCode::Ok;
  }
  check(finding.table.has_value() || !(options.view.stats || !options.view.filter.empty()),
        ErrorKind::Usage,
        "[cli.inspect] --stats and --filter are for tensors; got {} ({}), expected a model file.",
        options.view.path, finding.kind);
  if (options.common->json) {
    print_json(finding_json(finding, options.view));
  } else {
    print_out(finding_text(finding, options.view));
  }
  return ExitCode::Ok;
}

std::string known_kinds() {
  std::vector<std::string> names;
  for (const auto& kind : file_kinds()) names.emplace_back(kind.name);
  return join(names, "; ");
}

}  // namespace

Verb inspect_verb() {
  Verb verb;
  verb.name = "inspect";
  verb.summary = "what a file or folder is, and what to do with it";
  verb.description = fmt::format(
      "Shows everything that this program reads: {}. Of models it shows the tensors and metadata, "
      "mostly from the header alone, so that even a very large file answers at once; --stats reads "
      "the tensors shown. A file that is damaged or of another kind is named as such, with exit "
      "code 3.",
      known_kinds());
  verb.examples = {
      {"ubique inspect model.safetensors", "summary and table of tensors"},
      {"ubique inspect model/ --filter '*.weight' --sort size", "the largest weights first"},
      {"ubique inspect net.pt --stats", "with smallest, largest, mean, spread, NaN"},
      {"ubique inspect model.safetensors --metadata config", "one value, as it is in the file"},
      {"ubique inspect runs/lesion", "a run: scores, files, how to go on"},
      {"ubique inspect head.nii.gz", "voxels, spacing, orientation"},
  };
  verb.setup = [](CLI::App& app) -> std::function<ExitCode()> {
    auto options = std::make_shared<InspectOptions>();
    auto& view = options->view;
    app.add_option("path", view.path, "file or folder")->required()->type_name("PATH");
    app.add_option("--filter", view.filter, "show only names that match, e.g. '*.bias'")
        ->type_name("GLOB");
    app.add_option("--sort", view.sort, "file (as it lies there), name, size (largest first)")
        ->check(CLI::IsMember({"file", "name", "size"}))
        ->capture_default_str();
    app.add_flag("--stats", view.stats, "read the values: min, max, mean, std, NaN, infinite");
    app.add_option("--metadata", options->metadata_key, "print one metadata value and nothing else")
        ->type_name("KEY");
    options->common = add_common_flags(app, /*with_device=*/false);
    return [options] { return run_inspect(*options); };
  };
  return verb;
}

}  // namespace ubique::cli
