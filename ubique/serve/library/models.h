// SPDX-License-Identifier: Apache-2.0
// Models that jobs may name: those that jobs trained, those in the data folder, those added by
// path, those that were pulled.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/serve/store/database.h"
#include "ubique/serve/store/folders.h"

namespace ubique::serve {

struct ModelEntry {
  std::string ref, family, name, source;  ///< "model:run-12", "meshnet", "lesion", "run"
  std::filesystem::path path;
};

/// Models of another place, such as those that `ubique pull` keeps.
using MoreModels = std::function<std::vector<ModelEntry>()>;
/// The family that a file or folder belongs to; empty if none knows it.
using RecognizeFamily = std::function<std::string(const std::filesystem::path&)>;

class Models {
 public:
  Models(Database& database, const Folders& folders, RecognizeFamily recognize, MoreModels more);

  std::vector<ModelEntry> list() const;
  Json json() const;
  Json json_of(const ModelEntry& entry) const;
  /// `rest` is what follows "model:". Input error if there is none, or its files are gone.
  std::filesystem::path resolve(const std::string& rest) const;
  ModelEntry add(const std::filesystem::path& path, const std::string& name);
  void remove(const std::string& rest);

 private:
  void add_runs(std::vector<ModelEntry>& entries) const;

  Database& database_;
  const Folders& folders_;
  RecognizeFamily recognize_;
  MoreModels more_;
};

}  // namespace ubique::serve
