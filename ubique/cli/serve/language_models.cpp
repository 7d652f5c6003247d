// SPDX-License-Identifier: Apache-2.0
// The pool's settings from flags and from the studio's list of models.
#include "ubique/cli/serve/language_models.h"

#ifdef UBIQUE_HAS_SERVE
#include <sys/stat.h>

#include "ubique/base/error.h"
#include "ubique/base/files/library.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/serve/command_rows.h"
#include "ubique/device/host.h"
#include "ubique/io/hub/cache.h"

namespace ubique::cli {
namespace {

std::int64_t changed_at(const std::filesystem::path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::int64_t>(info.st_mtime) : 0;
}

std::vector<serve::OpenModel> open_models(const serve::Models& models) {
  constexpr std::string_view kPulled = "pulled", kRef = "model:";
  std::vector<serve::OpenModel> open;
  for (const auto& entry : models.list()) {
    if (entry.family != "codelm") continue;
    const auto changed = changed_at(entry.path);
    if (changed == 0) continue;  // its files are gone
    auto id = entry.source == kPulled ? entry.name : entry.ref.substr(kRef.size());
    open.push_back({std::move(id), entry.path, changed});
  }
  return open;
}

}  // namespace

std::vector<serve::ModelEntry> models_at_hand() {
  std::vector<serve::ModelEntry> entries;
  std::error_code none;
  for (const auto& model : std::filesystem::directory_iterator(find_data("models"), none)) {
    const auto name = model.path().filename().string();
    entries.push_back(
        {"model:shipped/" + name, family_of_model(model.path()), name, "shipped", model.path()});
  }
  for (const auto& model : io::downloaded_models()) {
    entries.push_back({"model:hub/" + model.name, family_of_model(model.folder), model.name,
                       "pulled", model.folder});
  }
  return entries;
}

std::unique_ptr<serve::ModelPool> make_model_pool(const LanguageModelFlags& flags,
                                                  serve::Services& services) {
  serve::PoolSettings settings;
  settings.program = services.facts.program;
  settings.logs = services.folders.work / "models";
  settings.slots = flags.slots;
  settings.idle_seconds = flags.unload_after;
  if (!flags.device.empty()) settings.options = {"--device", flags.device};
  settings.memory_bytes = device::host().memory_total / 5 * 4;
  if (!flags.memory.empty()) {
    const auto bytes = parse_bytes(flags.memory);
    check(bytes && *bytes > 0, ErrorKind::Usage,
          "[cli.serve] --models-memory; got '{}', expected a size such as 16GiB.", flags.memory);
    settings.memory_bytes = *bytes;
  }
  settings.list = [&services] { return open_models(services.models); };
  settings.publish = [&services](const Json& event) {
    services.events.append("model", event);
    services.events.notify();
  };
  return std::make_unique<serve::ModelPool>(std::move(settings));
}

}  // namespace ubique::cli
#endif
