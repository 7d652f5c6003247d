// SPDX-License-Identifier: Apache-2.0
// Presets of songs: small YAML files with a label, tags, lyrics and any other key of a request.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ubique::acestep {

struct Preset {
  std::string id;    ///< the file's name without .yaml
  std::string kind;  ///< "instrumental", "vocal", "own"
  std::string label = {}, tags = {};
  std::filesystem::path path = {};
};

/// The shipped ones, then those of `own` (a folder; empty = none), which hide shipped ones of the
/// same id. Input error for files that are no presets.
std::vector<Preset> list_presets(const std::filesystem::path& own);

/// Usage error, with a "did you mean", if there is none of that id.
Preset find_preset(const std::string& id, const std::filesystem::path& own);

}  // namespace ubique::acestep
