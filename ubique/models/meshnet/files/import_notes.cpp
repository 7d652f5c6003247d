// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/meshnet/files/import_notes.h"

#include "ubique/base/text/json.h"
#include "ubique/models/meshnet/files/axes.h"
#include "ubique/models/meshnet/files/export_names.h"

namespace ubique::meshnet {

void adopt_notes(MeshNetFile& file, const std::map<std::string, std::string>& notes,
                 const std::string& where) {
  const auto found = notes.find(kConfigKey);
  if (found == notes.end()) return;
  auto config = from_json(parse_json(found->second, where + " (its notes)"), where);
  const auto& own = file.config;
  check(config.channels == own.channels && config.classes == own.classes &&
            config.in_channels == own.in_channels && config.kernel == own.kernel &&
            config.dilations == own.dilations && config.activation == own.activation &&
            config.norm == own.norm,
        ErrorKind::Input,
        "[meshnet.import] {}: its notes describe another network than its weights; got {} and {}. "
        "Was it changed after the export?",
        where, config.name(), own.name());
  config.bias = own.bias;
  file.config = std::move(config);
  const auto axes = notes.find(kAxesKey);
  if (axes != notes.end() && axes->second == kBrowserAxes) {
    file = turn_kernels(file, from_browser_axes);
  }
}

}  // namespace ubique::meshnet
