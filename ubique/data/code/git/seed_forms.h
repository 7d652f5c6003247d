// SPDX-License-Identifier: Apache-2.0
// The text forms of the original git-starcoder scripts, for models that were trained on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ubique/data/code/git/git_history.h"

namespace ubique::data {

struct SeedCommitOptions {
  std::string branch;             ///< empty: no line
  std::int64_t since_parent = 0;  ///< seconds between the authors' times; 0 or less: no line
  bool diffs = false;
};

/// "<COMMIT> abbreviated hash", "<AUTHOR> name", ... "</COMMIT>", one per line.
std::string seed_commit_text(const Commit& commit, const SeedCommitOptions& options);

/// "<FILE> path", "<BRANCH> ...", "<COMMIT> ...", "<RANGE> a:b", "<CODE>", 200 lines that overlap
/// by 40 with the next, "</CODE>".
std::vector<std::string> seed_file_texts(const SnapshotFile& file, const std::string& branch,
                                         const std::string& commit);

}  // namespace ubique::data
