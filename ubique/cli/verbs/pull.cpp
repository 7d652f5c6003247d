// SPDX-License-Identifier: Apache-2.0
// `ubique pull`: downloads a model from a hub into the cache that Hugging Face's programs share.
#include "ubique/io/hub/pull.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "ubique/base/terminal/progress.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/interrupt.h"
#include "ubique/cli/verb.h"
#include "ubique/io/hub/cache.h"
#include "ubique/io/hub/http.h"

namespace ubique::cli {
namespace {

struct PullFlags {
  std::string model;
  std::vector<std::string> include, exclude;
  int connections = 8;
  bool yes = false, dry_run = false;
  std::shared_ptr<CommonFlags> common;
};

io::PullOptions read_pull_options(const PullFlags& flags) {
  const auto name = io::parse_hub_name(flags.model);
  check(name.has_value(), ErrorKind::Usage,
        "[cli.pull] that is no name of a model; got '{}', expected hf:OWNER/NAME or "
        "hf:OWNER/NAME@REVISION, such as hf:bigcode/tiny_starcoder_py.",
        printable(flags.model));
  check(io::has_http(), ErrorKind::Device, "[cli.pull] nothing can be downloaded; {}.",
        io::http_missing());
  auto options = io::read_pull_environment(*name);
  options.choice = {.include = flags.include, .exclude = flags.exclude};
  options.download.connections = flags.connections;
  options.download.stop_requested = interrupted;
  return options;
}

Json pull_json(const io::PullOptions& options, const io::PullPlan& plan, bool fetched) {
  auto json = json_document("pull", 1);
  json["model"] = options.name.text();
  json["revision"] = options.name.revision;
  json["commit"] = plan.model.commit;
  json["license"] = plan.model.license.empty() ? Json(nullptr) : Json(plan.model.license);
  json["folder"] = plan.snapshot.string();
  json["bytes"] = plan.bytes;
  json["bytes_missing"] = plan.to_fetch;
  json["complete"] = fetched;
  json["files_left_out"] = plan.left_out;
  json["files"] = Json::array();
  for (const auto& file : plan.files) {
    json["files"].push_back({{"path", file.path},
                             {"bytes", file.bytes},
                             {file.kind == ShaKind::Sha256 ? "sha256" : "git_sha1", file.digest}});
  }
  return json;
}

std::string plan_text(const io::PullOptions& options, const io::PullPlan& plan) {
  const auto license = plan.model.license.empty() ? "none named" : plan.model.license;
  auto text = fmt::format(
      "{} at {} ({})\n  licence  {}{}\n  size     {} in {} files, {} to download\n  into     {}\n",
      options.name.text(), printable(options.name.revision), plan.model.commit.substr(0, 12),
      license, plan.model.gated ? " (with conditions of its owner)" : "", human_bytes(plan.bytes),
      plan.files.size(), human_bytes(plan.to_fetch), plan.snapshot.string());
  if (plan.left_out > 0) {
    text += fmt::format("  without  {} files of other kinds, or left out\n", plan.left_out);
  }
  return text;
}

std::string files_text(const io::PullPlan& plan) {
  Table table({"file", "size"});
  for (const auto& file : plan.files) {
    table.add_row({printable(file.path), human_bytes(file.bytes)});
  }
  return table.to_text();
}

/// Asks on a terminal; elsewhere nobody could answer.
bool agreed(const PullFlags& flags) {
  if (flags.yes || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) return true;
  std::cerr << "Download it? [Y/n] " << std::flush;
  std::string answer;
  if (!std::getline(std::cin, answer)) return false;
  answer = lowercase(trim(answer));
  return answer.empty() || answer == "y" || answer == "yes";
}

/// False if it was stopped.
bool fetch_with_progress(io::PullOptions& options, const io::PullPlan& plan,
                         const PullFlags& flags) {
  std::int64_t left = 0;  // by an earlier run, which the progress counts too
  for (const auto& file : plan.missing) left += file.file.bytes;
  Progress progress(
      {.title = options.name.text(),
       .total = left,
       .unit = "B",
       .style = Progress::choose_style(STDERR_FILENO, flags.common->json, flags.common->quiet)},
      std::cerr);
  options.download.advanced = [&](std::int64_t bytes) { progress.advance(bytes); };
  if (!io::pull(options, plan)) return false;
  progress.finish();
  return true;
}

ExitCode run_pull(const PullFlags& flags) {
  watch_interrupts();
  auto options = read_pull_options(flags);
  const auto plan = io::plan_pull(options);
  if (interrupted()) return ExitCode::Interrupted;
  if (!flags.common->quiet && !flags.common->json) {
    std::cerr << printable_lines(plan_text(options, plan));
  }
  if (flags.dry_run) {
    flags.common->json ? print_json(pull_json(options, plan, plan.missing.empty()))
                       : print_out(files_text(plan));
    return ExitCode::Ok;
  }
  if (!plan.missing.empty() && !agreed(flags)) return ExitCode::Interrupted;
  if (!fetch_with_progress(options, plan, flags)) {
    if (!flags.common->quiet) {
      std::cerr << "stopped; what came is kept, and the same command goes on\n";
    }
    return ExitCode::Interrupted;
  }
  if (flags.common->json) {
    print_json(pull_json(options, plan, true));
  } else {
    print_out(plan.snapshot.string() + "\n");
    if (!flags.common->quiet) {
      std::cerr << fmt::format("complete. Use it as --model {}\n", options.name.text());
    }
  }
  return ExitCode::Ok;
}

}  // namespace

Verb pull_verb() {
  Verb verb;
  verb.name = "pull";
  verb.summary = "download a model from Hugging Face's hub";
  verb.description =
      "Shows the model's licence and size, asks (on a terminal), and downloads its safetensors, "
      "JSON and text files into the cache that Hugging Face's own programs use; other kinds are "
      "left out. Large files come over several connections, what was cut goes on where it "
      "stopped, and every file is checked against the hub's digest. The model is then found by "
      "its name: --model OWNER/NAME. HF_TOKEN is for private models, HF_ENDPOINT for another "
      "server, HF_HUB_CACHE or HF_HOME for another folder, https_proxy for a proxy.";
  verb.examples = {
      {"ubique pull hf:bigcode/tiny_starcoder_py",
       "then: ubique run codelm --model "
       "bigcode/tiny_starcoder_py --prompt 'def '"},
      {"ubique pull hf:OWNER/NAME@v1.0 --yes", "a tag, a branch or a commit; without asking"},
      {"ubique pull hf:OWNER/NAME --dry-run", "only what it would download"},
      {"ubique pull hf:OWNER/NAME --exclude '*.md' --include 'transformer/*'", "a part of it"},
  };
  verb.setup = [](CLI::App& app) -> std::function<ExitCode()> {
    auto flags = std::make_shared<PullFlags>();
    app.add_option("model", flags->model, "hf:OWNER/NAME, with @REVISION for another than main")
        ->required()
        ->type_name("MODEL");
    app.add_option("--include", flags->include, "only files whose path or name matches")
        ->type_name("GLOB")
        ->delimiter(',');
    app.add_option("--exclude", flags->exclude, "without files that match")
        ->type_name("GLOB")
        ->delimiter(',');
    app.add_option("--connections", flags->connections, "at once")
        ->type_name("N")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    app.add_flag("-y,--yes", flags->yes, "do not ask");
    app.add_flag("--dry-run", flags->dry_run, "list the files and download nothing");
    flags->common = add_common_flags(app, /*with_device=*/false);
    return [flags] { return run_pull(*flags); };
  };
  return verb;
}

}  // namespace ubique::cli
