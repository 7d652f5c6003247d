// SPDX-License-Identifier: Apache-2.0
// Writes commits and chunks of files line by line as the original does.
#include "ubique/data/code/git/seed_forms.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/text/text.h"
#include "ubique/base/text/utf8.h"

namespace ubique::data {
namespace {

/// 0 to 1: lines count up to 500, files up to 50, merges half as much again.
double seed_complexity(std::int64_t lines, std::int64_t files, bool merge) {
  const auto by_lines = std::min(static_cast<double>(lines) / 500, 1.0);
  const auto by_files = std::min(static_cast<double>(files) / 50, 1.0);
  return std::min((by_lines * 0.6 + by_files * 0.4) * (merge ? 1.5 : 1.0), 1.0);
}

/// "crates/NAME/..." is NAME, anything else "root".
std::string crate_of(const std::string& path) {
  const auto parts = split(path, '/');
  return parts.size() > 1 && parts[0] == "crates" ? parts[1] : "root";
}

std::vector<std::string> issue_numbers(std::string_view text) {
  std::vector<std::string> numbers;
  for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    auto end = at + 1;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    if (end > at + 1) numbers.emplace_back(text.substr(at + 1, end - at - 1));
  }
  return numbers;
}

std::string first_characters(std::string_view text, std::size_t most) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < most && at < text.size(); ++i) at += code_point_at(text, at).length;
  return std::string(text.substr(0, at));
}

std::vector<std::string> file_lines(const Commit& commit) {
  std::vector<std::pair<std::string, std::vector<std::string>>> crates;
  for (const auto type : {ChangeType::Add, ChangeType::Modify}) {  // added ones come first
    for (const auto& change : commit.changes) {
      if (change.type != type) continue;
      const auto crate = crate_of(change.path);
      auto found = std::find_if(crates.begin(), crates.end(),
                                [&](const auto& known) { return known.first == crate; });
      if (found == crates.end()) found = crates.insert(crates.end(), {crate, {}});
      if (found->second.size() < 3) found->second.push_back(change.path);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [crate, files] : crates) {
    lines.push_back(fmt::format("  {}: {}", crate, join(files, " ")));
  }
  return lines;
}

}  // namespace

std::string seed_commit_text(const Commit& commit, const SeedCommitOptions& options) {
  std::int64_t insertions = 0, deletions = 0, files = 0;
  for (const auto& change : commit.changes) {
    insertions += change.insertions;
    deletions += change.deletions;
    files += change.type == ChangeType::Rename ? 0 : 1;
  }
  const bool merge = commit.parents.size() > 1;
  const auto end = std::min(commit.message.find('\n'), commit.message.size());
  const auto body = trim(std::string_view(commit.message).substr(end));
  std::vector<std::string> lines = {"<COMMIT> " + commit.hash.substr(0, 8),
                                    "<AUTHOR> " + commit.author_name,
                                    fmt::format("<TIMESTAMP> {}", commit.commit_time)};
  if (!options.branch.empty()) lines.push_back("<BRANCH> " + options.branch);
  lines.push_back(
      fmt::format("<COMPLEXITY> {:.2f}", seed_complexity(insertions + deletions, files, merge)));
  if (merge) {
    lines.push_back(fmt::format("<MERGE> parents:{} files:{}", commit.parents.size(), files));
  }
  lines.push_back("<SUBJECT> " + commit.message.substr(0, end));
  if (!body.empty()) lines.push_back("<BODY> " + first_characters(body, 200));
  if (files > 0) {
    lines.emplace_back("<FILES>");
    for (auto& line : file_lines(commit)) lines.push_back(std::move(line));
  }
  if (insertions > 0 || deletions > 0) {
    lines.push_back(fmt::format("  +{} -{}", insertions, deletions));
  }
  const auto issues = issue_numbers(commit.message);
  if (!issues.empty()) lines.push_back("<RELATED> issues: " + join(issues, " "));
  if (options.since_parent > 0) {
    lines.push_back(fmt::format("  hours_since_parent: {:.1f}",
                                static_cast<double>(options.since_parent) / 3600));
  }
  for (const auto& change : commit.changes) {
    if (!options.diffs || change.hunks.empty()) continue;
    lines.push_back("<DIFF> " + change.path);
    lines.emplace_back(trim(change.hunks));
    lines.emplace_back("</DIFF>");
  }
  lines.emplace_back("</COMMIT>");
  return join(lines, "\n");
}

std::vector<std::string> seed_file_texts(const SnapshotFile& file, const std::string& branch,
                                         const std::string& commit) {
  constexpr std::size_t kChunk = 200, kOverlap = 40;
  std::vector<std::string> lines;
  std::string_view rest = file.text;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::vector<std::string> texts;
  for (std::size_t start = 0; start < lines.size(); start += kChunk - kOverlap) {
    const auto end = std::min(lines.size(), start + kChunk);
    const std::vector<std::string> part(lines.begin() + static_cast<std::ptrdiff_t>(start),
                                        lines.begin() + static_cast<std::ptrdiff_t>(end));
    texts.push_back(
        fmt::format("<FILE> {}\n<BRANCH> {}\n<COMMIT> {}\n<RANGE> {}:{}\n<CODE>\n{}\n</CODE>",
                    file.path, branch, commit, start + 1, end, join(part, "\n")));
    if (end == lines.size()) break;
  }
  return texts;
}

}  // namespace ubique::data
