// SPDX-License-Identifier: Apache-2.0
// The table of verbs, and what they share.
#include <cstdio>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/cli/verb.h"

namespace ubique::cli {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> kVerbs = {
      info_verb(),    doctor_verb(),      plan_verb(),       data_verb(),     train_verb(),
      launch_verb(),  evaluate_verb(),    experiment_verb(), validate_verb(), run_verb(),
      convert_verb(), export_verb(),      inspect_verb(),    pull_verb(),     demo_verb(),
      serve_verb(),   completions_verb(), man_verb(),
  };
  return kVerbs;
}

std::shared_ptr<CommonFlags> add_common_flags(CLI::App& app, bool with_device) {
  auto flags = std::make_shared<CommonFlags>();
  if (with_device) {
    app.add_option("--device", flags->device,
                   "auto, gpu, cpu, cuda, cuda:N, metal (or mps), xpu, sham")
        ->envname("UBIQUE_DEVICE")
        ->type_name("NAME")
        ->group(kDeviceGroup);
    app.add_flag("--fallback", flags->fallback, "go on with the CPU if that device is missing")
        ->group(kDeviceGroup);
  }
  app.add_flag("--json", flags->json, "write JSON to stdout")->group(kOutputGroup);
  app.add_flag("-q,--quiet", flags->quiet, "only errors on stderr, no progress")
      ->group(kOutputGroup);
  app.add_flag("-v,--verbose", flags->verbose, "everything on stderr")->group(kOutputGroup);
  app.parse_complete_callback([flags, &app] {
    if (!app.get_subcommands().empty()) return;  // which has flags of its own
    log::configure(flags->quiet     ? log::Level::Quiet
                   : flags->verbose ? log::Level::Verbose
                                    : log::Level::Normal);
  });
  return flags;
}

namespace {

void write_out(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  check(written && std::fflush(stdout) == 0, ErrorKind::Input,
        "[cli.output] stdout takes no more data; got a write error, expected room for the output.");
}

}  // namespace

void print_out(const std::string& text) { write_out(printable_lines(text)); }

void print_json(const Json& document) { write_out(json_text(document, 2) + "\n"); }

}  // namespace ubique::cli
