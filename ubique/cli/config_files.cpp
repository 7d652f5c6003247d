// SPDX-License-Identifier: Apache-2.0
// Where configurations are looked for, relative to the current folder and to the loaded library.
#include "ubique/cli/config_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/files/library.h"
#include "ubique/base/text/text.h"

namespace ubique::cli {
namespace {

namespace fs = std::filesystem;

/// Files by name; one that lies here hides the same name elsewhere.
std::map<std::string, fs::path> known_configs(const std::string& folder) {
  std::map<std::string, fs::path> known;
  for (const auto& place : data_places()) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(place / "configs" / folder, ignored)) {
      if (entry.path().extension() == ".yaml") {
        known.emplace(entry.path().stem().string(), entry.path());
      }
    }
  }
  return known;
}

std::string plain_name(std::string name) {
  if (name.starts_with("cfg_")) name.erase(0, 4);
  if (name.ends_with(".yaml")) name.erase(name.size() - 5);
  return name;
}

}  // namespace

std::string named_config(const std::string& folder, const std::string& name) {
  const auto known = known_configs(folder);
  const auto found = known.find(plain_name(name));
  if (found != known.end()) return found->second.string();
  std::vector<std::string> names;
  for (const auto& [one, path] : known) names.push_back(one);
  fail(
      ErrorKind::Usage,
      "[cli.settings] no configuration of {} has that name; got '{}', expected {}.{} --config FILE "
      "takes a file from anywhere.",
      folder, name,
      names.empty() ? "a file of configs/" + folder + ", of which there are none"
                    : join(names, ", "),
      hint(plain_name(name), names));
}

std::string config_path(const std::string& folder, const std::string& given) {
  std::error_code ignored;
  if (given.find('/') != std::string::npos || fs::is_regular_file(given, ignored)) return given;
  const auto known = known_configs(folder);
  const auto found = known.find(plain_name(given));
  return found == known.end() ? given : found->second.string();
}

}  // namespace ubique::cli
