// SPDX-License-Identifier: Apache-2.0
// Checks the repository and the folder, and runs documents through the filter into the set.
#include "ubique/data/code/git/git_set.h"

#include <algorithm>
#include <charconv>

#include "ubique/base/error.h"
#include "ubique/base/text/names.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/data/code/code_set_writer.h"
#include "ubique/data/code/git/git_stream.h"
#include "ubique/data/code/git/unit_placing.h"
#include "ubique/data/code/tokenizer_hash.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

constexpr NameTable<GitParts, 3> kGitParts = {
    {{GitParts::History, "history"}, {GitParts::Snapshot, "snapshot"}, {GitParts::Both, "both"}}};

bool wants_history(GitParts parts) { return parts != GitParts::Snapshot; }
bool wants_snapshot(GitParts parts) { return parts != GitParts::History; }

/// The commit of the revision, after checking that there is a repository to read.
std::string head_of(const fs::path& repository, const GitSetOptions& options) {
  std::error_code ignored;
  check(fs::is_directory(repository, ignored), ErrorKind::Input,
        "[data.git] there is no folder {}.", repository.string());
  const auto shallow = ask_git(repository, {"rev-parse", "--is-shallow-repository"});
  check(shallow.code == 0, ErrorKind::Input, "[data.git] {} is no git repository; git says: {}",
        repository.string(), printable(shallow.error, 300));
  check(shallow.text != "true" || !wants_history(options.parts), ErrorKind::Input,
        "[data.git] {} is a shallow clone: its oldest commit would count as the origin of every "
        "file. Fetch the rest (git fetch --unshallow), or take --form snapshot.",
        repository.string());
  check(!options.revision.starts_with('-'), ErrorKind::Usage,
        "[data.git] '{}' is no revision; expected a branch, a tag or a commit.",
        printable(options.revision));
  const auto head =
      ask_git(repository, {"rev-parse", "--verify", "--quiet", options.revision + "^{commit}"});
  if (head.code == 0) return head.text;
  const auto any = ask_git(repository, {"rev-list", "-n", "1", "--all"});
  check(!any.text.empty(), ErrorKind::Input, "[data.git] {} is empty: it has no commit yet.",
        repository.string());
  fail(ErrorKind::Input,
       "[data.git] {} has no revision '{}'; expected a branch, a tag or a commit.",
       repository.string(), printable(options.revision));
}

/// Its folder's name, that of the work tree for a folder inside it.
std::string repository_name(const fs::path& repository) {
  const auto top = ask_git(repository, {"rev-parse", "--show-toplevel"});
  auto path = top.code == 0 && !top.text.empty() ? fs::path(top.text) : fs::canonical(repository);
  auto name = path.filename().string();
  return name.ends_with(".git") ? name.substr(0, name.size() - 4) : name;
}

std::string branch_name(const fs::path& repository, const GitSetOptions& options) {
  const auto name = ask_git(repository, {"rev-parse", "--abbrev-ref", options.revision});
  return name.code == 0 && name.text != "HEAD" ? name.text : std::string();
}

/// Midnight UTC: git would take the present time of day.
std::string git_date(const std::string& since) {
  if (since.empty()) return {};
  const bool right = since.size() == 10 && since[4] == '-' && since[7] == '-' &&
                     std::all_of(since.begin(), since.end(),
                                 [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
  check(right, ErrorKind::Usage, "[data.git] --since is a date; got '{}', expected 2024-01-31.",
        printable(since));
  return since + "T00:00:00Z";
}

Json options_json(const GitSetOptions& options) {
  return {{"form", to_string(options.parts)},
          {"commit_form", to_string(options.commit_form)},
          {"snapshot_form", to_string(options.snapshot_form)},
          {"seed_diffs", options.seed_diffs},
          {"rev", options.revision},
          {"since", options.since},
          {"first_parent", options.first_parent},
          {"context", options.context},
          {"paths", options.rules.paths},
          {"exclude", options.rules.exclude},
          {"rules", options.rules.builtin},
          {"max_file_size", options.max_file_size},
          {"filter", to_json(options.filter)}};
}

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The header of the set in the folder, if it can be continued.
std::optional<CodeSetHeader> set_to_update(const fs::path& folder, const io::Tokenizer& tokenizer,
                                           const GitSetOptions& options) {
  if (!is_code_set(folder)) return std::nullopt;
  auto header = read_code_set_header(folder);
  check(text_at(header.source, "kind") == "git", ErrorKind::Usage,
        "[data.git] {} holds a data set that was not made from a repository. Another folder.",
        folder.string());
  check(header.tokenizer_hash == tokenizer_hash(tokenizer), ErrorKind::Usage,
        "[data.git] {} was made with another tokenizer. The one in its folder 'tokenizer', or "
        "another folder.",
        folder.string());
  const auto wanted = options_json(options);
  for (const auto& [key, value] : wanted.items()) {
    const auto found = header.options.find(key);
    const auto had = found == header.options.end() ? Json() : *found;
    check(had == value, ErrorKind::Usage,
          "[data.git] {} was made with other options: '{}' was {}, is {}. The same options, or "
          "another folder.",
          folder.string(), key, printable(json_text(had)), printable(json_text(value)));
  }
  return header;
}

std::string range_to_read(const fs::path& repository, const std::string& old_head,
                          const std::string& head) {
  if (old_head.empty()) return head;
  const auto is_hash = std::all_of(old_head.begin(), old_head.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  const auto known =
      is_hash ? ask_git(repository, {"merge-base", "--is-ancestor", old_head, head}).code : 1;
  check(known == 0, ErrorKind::Input,
        "[data.git] the history was rewritten: commit {} of the data set is no ancestor of {} any "
        "more. Make the data again in a new folder.",
        printable(old_head.substr(0, 12), 12), head.substr(0, 12));
  return old_head + ".." + head;
}

HistoryOptions history_options(const GitSetOptions& options, std::string range) {
  HistoryOptions history;
  history.range = std::move(range);
  history.since = git_date(options.since);
  history.context = options.context;
  history.first_parent = options.first_parent;
  history.merge_changes = options.commit_form == DocumentForm::Seed;
  history.rules = options.rules;
  history.max_file_size = options.max_file_size;
  return history;
}

void remember_set(const fs::path& folder, DocumentFilter& filter) {
  for (const bool val : {false, true}) {
    const CodeSet set(folder, val ? kValSplit : kTrainSplit);
    for (std::int64_t i = 0; i < set.size(); ++i) filter.remember({set.document(i), 0, {}}, val);
  }
}

void validate_git(const GitSetOptions& options) {
  check(options.context >= 0 && options.context <= 1000, ErrorKind::Usage,
        "[data.git] --context counts lines; got {}, expected 0 to 1000.", options.context);
  check(options.max_file_size > 0 && options.max_file_size <= 100'000'000, ErrorKind::Usage,
        "[data.git] --max-file-size is {}; expected 1 byte to 100 MB.", options.max_file_size);
  validate(options.filter);
  (void)git_date(options.since);
}

/// Adds up the counts of this time and of earlier ones.
Json added_counts(const Json& before, const Json& now) {
  auto sum = before;
  for (const auto& [reason, count] : now.items()) {
    const auto had = sum.find(reason);
    const bool number = had != sum.end() && had->is_number_integer();
    sum[reason] = count.get<std::int64_t>() + (number ? had->get<std::int64_t>() : 0);
  }
  return sum;
}

void write_report(const fs::path& folder, const GitSetResult& result) {
  auto json = json_document("code_set_report", 1);
  json["head"] = result.head;
  json["update"] = result.update;
  json["commits"] = result.commits;
  json["files"] = result.files;
  json["documents_added"] = result.documents;
  json.update(result.report.json());
  json["dropped_in_all"] = result.header.dropped;
  write_file(folder / "report.json", json_text(json, 2) + "\n");
  write_file(folder / "report.txt",
             fmt::format("{} commits and {} files read, {} documents added\n\n{}\n{}",
                         result.commits, result.files, result.documents,
                         code_set_summary(result.header), result.report.text()));
}

}  // namespace

GitParts parse_git_parts(std::string_view text) {
  return parse_name(kGitParts, "data.git", "form", text);
}

std::string_view to_string(GitParts parts) { return name_of(kGitParts, parts); }

std::int64_t count_git_commits(const fs::path& repository, const GitSetOptions& options) {
  validate_git(options);
  const auto head = head_of(repository, options);
  if (!wants_history(options.parts)) return 0;
  std::vector<std::string> arguments = {"rev-list", "--count"};
  if (!options.since.empty()) arguments.push_back("--since=" + git_date(options.since));
  if (options.first_parent) arguments.emplace_back("--first-parent");
  arguments.push_back(head);
  const auto count = ask_git(repository, arguments);
  std::int64_t value = 0;
  std::from_chars(count.text.data(), count.text.data() + count.text.size(), value);
  return value;
}

GitSetResult make_git_set(const fs::path& repository, const fs::path& folder,
                          const io::Tokenizer& tokenizer, const GitSetOptions& options,
                          const GitProgress& progress) {
  validate_git(options);
  GitSetResult result;
  result.head = head_of(repository, options);
  auto old = set_to_update(folder, tokenizer, options);
  result.update = old.has_value();
  const auto range =
      range_to_read(repository, old ? text_at(old->source, "head") : std::string(), result.head);

  TextEncoder encoder(tokenizer);
  const auto name = repository_name(repository);
  GitDocuments documents({options.commit_form, options.snapshot_form, options.seed_diffs, name,
                          branch_name(repository, options), result.head},
                         encoder);
  result.special = documents.special_name();
  TextEncoder filter_encoder(tokenizer);
  DropReport filter_report;
  DocumentFilter filter(options.filter, filter_encoder, filter_report);
  if (old) {
    remember_set(folder, filter);
    const auto units = old->state.find("units");
    if (units != old->state.end() && units->is_number_integer()) {
      filter.skip_units(units->get<std::int64_t>());
    }
  }
  auto writer = old ? std::make_unique<CodeSetWriter>(folder, *old)
                    : std::make_unique<CodeSetWriter>(folder, tokenizer, tokenizer.size());
  UnitPlacing placing(filter, *writer);
  const auto place = [&](UnitPlacing::Unit&& unit) {
    placing.push(std::move(unit));
    if (progress) progress(result.commits + result.files);
  };
  const auto history = history_options(options, range);
  if (wants_history(options.parts)) {
    read_history(repository, history, result.report, [&](Commit&& commit) {
      ++result.commits;
      place(documents.commit(commit, result.report));
    });
  }
  // An update without new commits has no new files either.
  if (wants_snapshot(options.parts) && !(old && text_at(old->source, "head") == result.head)) {
    read_snapshot(repository, result.head, history, result.report, [&](SnapshotFile&& file) {
      ++result.files;
      place(documents.file(file, result.report));
    });
  }
  result.documents = placing.finish();
  result.report.add(filter_report);
  auto& header = writer->header();
  header.source = {{"kind", "git"}, {"repository", name}, {"head", result.head}};
  header.options = options_json(options);
  header.state = {{"units", filter.units()}};
  header.dropped = added_counts(header.dropped, result.report.counts());
  writer->finish();
  result.header = header;
  write_report(folder, result);
  return result;
}

}  // namespace ubique::data
