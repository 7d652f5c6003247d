// SPDX-License-Identifier: Apache-2.0
// A git repository as a folder of token documents, made in one pass over git's output, or brought
// up to date with the commits since the last time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "ubique/data/code/code_set.h"
#include "ubique/data/code/filter/document_filter.h"
#include "ubique/data/code/git/git_documents.h"

namespace ubique::data {

enum class GitParts { History, Snapshot, Both };
GitParts parse_git_parts(std::string_view text);
std::string_view to_string(GitParts parts);

struct GitSetOptions {
  GitParts parts = GitParts::Both;
  DocumentForm commit_form = DocumentForm::Special, snapshot_form = DocumentForm::Special;
  bool seed_diffs = false;
  std::string revision = "HEAD";  ///< a branch, a tag or a commit
  std::string since = {};         ///< "2024-01-31"; empty: all
  bool first_parent = false;
  int context = 8;
  PathRules rules = {};
  std::int64_t max_file_size = 2'000'000;
  FilterOptions filter = {};
};

struct GitSetResult {
  CodeSetHeader header;
  DropReport report;
  std::int64_t commits = 0, files = 0;  ///< read this time
  std::int64_t documents = 0;           ///< added this time
  bool update = false;                  ///< the folder held a set before
  std::string head, special;            ///< commit; meaning of the special form
};

/// Called with the commits and files read so far; what it throws stops the work, and the folder is
/// then as it was before.
using GitProgress = std::function<void(std::int64_t done)>;

/// Number of commits that would be read, for progress. Checks the repository as make_git_set does.
std::int64_t count_git_commits(const std::filesystem::path& repository,
                               const GitSetOptions& options);

/// Input error for a folder that is no repository, an empty or shallow one, an unknown revision,
/// and for an update after the history was rewritten; Usage error for an update with other options
/// or another tokenizer. Writes report.json and report.txt beside the data.
GitSetResult make_git_set(const std::filesystem::path& repository,
                          const std::filesystem::path& folder, const io::Tokenizer& tokenizer,
                          const GitSetOptions& options, const GitProgress& progress = {});

}  // namespace ubique::data
