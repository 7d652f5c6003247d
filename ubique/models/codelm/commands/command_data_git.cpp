// SPDX-License-Identifier: Apache-2.0
// `ubique data codelm git`: a repository's history and files as a data set.
#include <fmt/format.h>

#include "ubique/base/text/text.h"
#include "ubique/data/code/code_set_writer.h"
#include "ubique/data/code/git/git_set.h"
#include "ubique/models/codelm/commands/data_commands.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;

data::GitSetOptions read_git_options(const Config& config) {
  data::GitSetOptions options;
  options.parts = data::parse_git_parts(config.get("form", std::string("both")));
  options.commit_form =
      data::parse_document_form(config.get("commit_form", std::string("special")));
  options.snapshot_form =
      data::parse_document_form(config.get("snapshot_form", std::string("special")));
  options.seed_diffs = config.get("seed_diffs", options.seed_diffs);
  options.revision = config.get("rev", options.revision);
  options.since = config.get("since", options.since);
  options.first_parent = config.get("first_parent", options.first_parent);
  options.context = config.get("context", options.context);
  options.rules.paths = config.get("paths", std::vector<std::string>());
  options.rules.exclude = config.get("exclude", std::vector<std::string>());
  options.rules.builtin = config.get("rules", true);
  options.max_file_size = config.get_bytes("max_file_size", options.max_file_size);
  options.filter = read_filter_options(config, options.filter);
  return options;
}

engine::Outcome git_outcome(const fs::path& folder, const data::GitSetResult& result) {
  const auto& header = result.header;
  auto text = data::code_set_summary(header);
  text += fmt::format("{} commits and {} files read up to {}, {} documents {}\n", result.commits,
                      result.files, result.head.substr(0, 12), result.documents,
                      result.update ? "added" : "made");
  if (result.report.dropped() > 0) text += "\n" + result.report.text();
  if (header.train.documents == 0) {
    text += "\nnothing is left to learn from: the table and report.txt say why\n";
  } else if (header.val.documents == 0) {
    text += "\nnothing is held out for validation: too few documents, or --val-share 0\n";
  }
  text += fmt::format("\nin {} (report.txt says what was left out)\n", folder.string());
  auto json = json_document("codelm_git_data", 1);
  json["folder"] = folder.string();
  json["head"] = result.head;
  json["update"] = result.update;
  json["special_form"] = result.special;
  json["commits"] = result.commits;
  json["files"] = result.files;
  json["documents_added"] = result.documents;
  for (const auto* name : {data::kTrainSplit, data::kValSplit}) {
    json[name] = {{"documents", header.split(name).documents},
                  {"tokens", header.split(name).tokens}};
  }
  json.update(result.report.json());
  return {text, json, ExitCode::Ok};
}

engine::Outcome make_git_data(const engine::Request& request) {
  const auto& config = request.config;
  const auto options = read_git_options(config);
  const auto tokenizer_path = config.require<std::string>("tokenizer");
  config.finish();
  check(request.inputs.size() == 1, ErrorKind::Usage,
        "[codelm.data] got {} repositories, expected one.", request.inputs.size());
  const fs::path repository = request.inputs.front();
  const auto folder = request.output.empty() ? fs::path("code-data") : request.output;
  const auto tokenizer = io::read_tokenizer(tokenizer_path);
  const auto total = data::count_git_commits(repository, options);
  data::GitSetResult result;
  const bool done = run_with_progress(request, "commits", total, [&](const auto& count) {
    result = data::make_git_set(repository, folder, tokenizer, options,
                                [&](std::int64_t /*read*/) { count(); });
  });
  return done ? git_outcome(folder, result) : stopped_outcome("codelm_git_data");
}

}  // namespace

engine::Command data_git_command() {
  const std::vector<engine::Option> own = {
      {"--tokenizer", "tokenizer", "PATH", "a tokenizer.json, or the folder of a model"},
      {"--form", "form", "WHAT",
       "history, snapshot (the files of the newest commit) or both (both)"},
      {"--commit-form", "commit_form", "FORM",
       "special (the tokenizer's own tokens), seed (as git-starcoder) or plain text (special)"},
      {"--snapshot-form", "snapshot_form", "FORM", "the same for files (special)"},
      {"--seed-diffs,!--no-seed-diffs", "seed_diffs", "",
       "patches in the seed form of commits (off)"},
      {"--rev,--branch", "rev", "REV", "branch, tag or commit to read (HEAD)"},
      {"--since", "since", "DATE", "commits since that day, as 2024-01-31 (all)"},
      {"--first-parent,!--no-first-parent", "first_parent", "",
       "only the main line, each merge as one change (off: merges are left out)"},
      {"--context", "context", "N", "lines around each change (8)"},
      {"--paths", "paths", "GLOBS", "only these files: src/**, *.py (all)"},
      {"--exclude", "exclude", "GLOBS", "not these files (none)"},
      {"--rules,!--no-rules", "rules", "",
       "skip vendored, generated, minified and lock files (on)"},
      {"--max-file-size", "max_file_size", "SIZE", "skip larger files (2 MB)"}};
  return {.verb = "data",
          .name = "git",
          .summary = "make a data set from the history and files of a git repository",
          .inputs = "REPO",
          .needs_device = false,
          .options = engine::all_options({own, filter_options({})}),
          .examples = {{"ubique data codelm git . -o data --tokenizer starcoder/",
                        "this repository; run it again later and only new commits are added"},
                       {"ubique data codelm git repo -o data --tokenizer tokenizer.json --form "
                        "snapshot --paths 'src/**, *.md'",
                        "some files as they are now"}},
          .run = make_git_data};
}

}  // namespace ubique::codelm
