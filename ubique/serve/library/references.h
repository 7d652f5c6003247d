// SPDX-License-Identifier: Apache-2.0
// References: names for files that clients may use instead of paths.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ubique/serve/library/items.h"
#include "ubique/serve/library/models.h"
#include "ubique/serve/library/uploads.h"

namespace ubique::serve {

/// Folders of this machine that jobs may read, by name.
using SharedFolders = std::map<std::string, std::filesystem::path>;

class References {
 public:
  References(const Uploads& uploads, const Library& library, const Models& models,
             const SharedFolders& shared)
      : uploads_(uploads), library_(library), models_(models), shared_(shared) {}

  /// The file or folder. Input error, with what a reference looks like, if there is none.
  std::filesystem::path resolve(const std::string& reference) const;

 private:
  const Uploads& uploads_;
  const Library& library_;
  const Models& models_;
  const SharedFolders& shared_;
};

/// A whole number from 1 on; 0 for anything else.
std::int64_t id_of(const std::string& text);

}  // namespace ubique::serve
