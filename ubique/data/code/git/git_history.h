// SPDX-License-Identifier: Apache-2.0
// Commits with their changes, and the files of one commit, parsed from git's patch output in one
// pass. Memory is that of one commit, bounded by the options.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/data/code/filter/drop_report.h"
#include "ubique/data/code/filter/path_rules.h"

namespace ubique::data {

enum class ChangeType { Add, Modify, Delete, Rename };

/// What a commit did to one file.
struct FileChange {
  std::string path;      ///< new one
  std::string old_path;  ///< of a rename
  ChangeType type = ChangeType::Modify;
  std::int64_t insertions = 0, deletions = 0;
  std::string hunks;  ///< lines as in a patch: ' ', '+', '-' or "@@ ..." in front
};

struct Commit {
  std::string hash;
  std::vector<std::string> parents;
  std::string author_name;
  std::int64_t author_time = 0, commit_time = 0;
  std::string message;  ///< whole, without blank lines at its ends
  std::vector<FileChange> changes;
};

struct HistoryOptions {
  std::string range;           ///< "HEAD", "OLD..NEW": commits, as hashes
  std::string since;           ///< as git takes it; empty: all
  int context = 8;             ///< lines around each change
  bool first_parent = false;   ///< only the main line; merges count as one change
  bool merge_changes = false;  ///< changes of a merge against its first parent
  PathRules rules = {};
  std::int64_t max_file_size = 2'000'000;     ///< bytes
  std::int64_t max_commit_size = 32'000'000;  ///< bytes of hunks that are kept of one commit
};

/// Oldest first. Files that the rules leave out are counted in the report.
void read_history(const std::filesystem::path& repository, const HistoryOptions& options,
                  DropReport& report, const std::function<void(Commit&&)>& receive);

/// A file as it is in a commit.
struct SnapshotFile {
  std::string path, text;
};

/// The files of the commit `head`, in the order of their paths.
void read_snapshot(const std::filesystem::path& repository, const std::string& head,
                   const HistoryOptions& options, DropReport& report,
                   const std::function<void(SnapshotFile&&)>& receive);

/// The lines of the hunks before or after the change; hunks are separated by a line "@@".
std::string hunk_side(std::string_view hunks, bool after);

/// A path as git quotes it: "\"a\\303\\244\"".
std::string unquote_git_path(std::string_view path);

}  // namespace ubique::data
