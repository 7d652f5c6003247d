// SPDX-License-Identifier: Apache-2.0
// Looks through the folders of presets.
#include "ubique/models/acestep/files/presets.h"

#include <algorithm>

#include "ubique/base/config/config.h"
#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/files/library.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPresets = 10'000;

Preset read_preset(const fs::path& path, const std::string& kind) {
  const auto config = Config::from_file(path);
  Preset preset{.id = path.stem().string(), .kind = kind, .path = path};
  preset.label = config.get("label", preset.id);
  preset.tags = config.get("tags", std::string());
  return preset;
}

void add_presets(const fs::path& folder, const std::string& kind, std::vector<Preset>& presets) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    check(files.size() <= kMostPresets, ErrorKind::Input,
          "[acestep.preset] {} has more than {} files; expected a folder of presets.",
          folder.string(), kMostPresets);
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    auto preset = read_preset(file, kind);
    std::erase_if(presets, [&](const Preset& other) { return other.id == preset.id; });
    presets.push_back(std::move(preset));
  }
}

}  // namespace

std::vector<Preset> list_presets(const fs::path& own) {
  std::vector<Preset> presets;
  const auto shipped = find_data("configs/acestep/presets");
  if (!shipped.empty()) {
    for (const auto* kind : {"instrumental", "vocal"}) add_presets(shipped / kind, kind, presets);
  }
  if (own.empty()) return presets;
  std::error_code ignored;
  check_readable(own);
  check(fs::is_directory(own, ignored), ErrorKind::Input,
        "[acestep.preset] {} is no folder; expected one with presets, one YAML file each.",
        own.string());
  add_presets(own, "own", presets);
  return presets;
}

Preset find_preset(const std::string& id, const fs::path& own) {
  const auto presets = list_presets(own);
  std::vector<std::string> ids;
  for (const auto& preset : presets) {
    if (preset.id == id) return preset;
    ids.push_back(preset.id);
  }
  fail(ErrorKind::Usage,
       "[acestep.preset] there is no preset '{}'; expected one of {} that `ubique run acestep "
       "--list-presets` shows.{}",
       printable(id, 60), ids.size(), hint(id, ids));
}

}  // namespace ubique::acestep
