// SPDX-License-Identifier: Apache-2.0
// Files that people brought, kept until they are removed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ubique/serve/http/message.h"
#include "ubique/serve/store/database.h"
#include "ubique/serve/store/folders.h"

namespace ubique::serve {

struct Upload {
  std::string id, name, type, mime;
  std::int64_t bytes = 0;
  std::filesystem::path path;

  Json json() const;
};

class Uploads {
 public:
  Uploads(Database& database, const Folders& folders) : database_(database), folders_(folders) {}

  /// Takes the file over. 415 for what no command reads, 507 if the disk is full.
  Upload take(const ReceivedFile& file);
  Upload keep_text(const std::string& name, const std::string& text);
  /// A folder with these files under their names; each may be removed by itself afterwards.
  Upload keep_folder(const std::vector<std::string>& references);
  std::optional<Upload> find(const std::string& id) const;
  Upload get(const std::string& id) const;  ///< 404 if there is none
  void remove(const std::string& id);
  /// Folders without a row, after a kill between the two.
  void clean() const;

 private:
  Upload add(const std::string& name, const std::string& type, const std::string& mime,
             std::int64_t bytes, const std::function<void(const std::filesystem::path&)>& place);

  Database& database_;
  const Folders& folders_;
};

/// 128 random bits of the system as letters: not to be guessed.
std::string random_name();

}  // namespace ubique::serve
