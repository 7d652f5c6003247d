// SPDX-License-Identifier: Apache-2.0
// What a hub says about a model: its licence and commit, and its files with sizes and digests. The
// answers are a stranger's: names that are no plain paths, sizes and digests that cannot be are
// refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/files/sha.h"

namespace ubique::io {

struct HubFile {
  std::string path;        ///< below the model's folder, with '/'
  std::int64_t bytes = 0;  ///< of the content
  std::string digest;      ///< its name as a blob: SHA-256 of large files, git's SHA-1 of others
  ShaKind kind = ShaKind::Sha1;
};

struct HubModel {
  std::string commit;   ///< 40 hexadecimal digits
  std::string license;  ///< "apache-2.0"; empty if none is named
  bool gated = false;   ///< its owner asks for consent
};

/// The answer of /api/models/OWNER/NAME/revision/REVISION. Input error that names `where`.
HubModel parse_hub_model(std::string_view text, const std::string& where);

/// Adds the files of one page of .../tree/COMMIT?recursive=true.
void parse_hub_tree(std::string_view text, const std::string& where, std::vector<HubFile>& files);

/// Input error for a file given twice, and for one that has a folder's name.
void check_hub_files(const std::vector<HubFile>& files, const std::string& where);

/// Is it safetensors, JSON or text: what this program reads and what cannot carry a program?
bool is_wanted_kind(std::string_view path);

struct FileChoice {
  std::vector<std::string> include = {}, exclude = {};  ///< globs of paths; include empty: all
};

/// Of the kinds that are wanted, those that a person chose. `left_out` gets the number of others.
std::vector<HubFile> choose_files(const std::vector<HubFile>& files, const FileChoice& choice,
                                  std::int64_t& left_out);

/// The digest that a file has on the hub: for SHA-1 git's, whose data begin with "blob SIZE".
Sha begin_digest(const HubFile& file);

}  // namespace ubique::io
