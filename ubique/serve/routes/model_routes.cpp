// SPDX-License-Identifier: Apache-2.0
// /api/models and /api/folders.
#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/text/json_fields.h"
#include "ubique/serve/routes/routes.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 5000;

Response add_model(const Request& request, Services& services) {
  if (!services.facts.loopback) {
    refuse(403, "auth",
           "[serve.model] models are added by path on this machine only; the server listens to "
           "others. Put them into the data folder's models/, or pull them.");
  }
  JsonFields fields(request.json(), "serve.model", "the model");
  std::string path, name;
  fields.take("path", path);
  fields.take("name", name);
  fields.finish();
  check(path.starts_with('/') && path.find('\0') == std::string::npos, ErrorKind::Usage,
        "[serve.model] \"path\"; expected an absolute path.");
  return json_answer(services.models.json_of(services.models.add(path, name)), 201);
}

Response list_folder(const Request& request, Services& services) {
  const auto name = request.value("name");
  const auto shared = services.shared.find(name);
  if (shared == services.shared.end()) missing("folder", name);
  const auto below = request.asked("path");
  const auto path = inside(shared->second, below.empty() ? "." : below);
  std::error_code ignored;
  if (!path || !fs::is_directory(*path, ignored)) missing("folder", below);
  const auto ref = fmt::format("folder:{}{}", name, below.empty() ? "" : "/" + below);
  auto entries = Json::array();
  for (const auto& entry : fs::directory_iterator(*path, ignored)) {
    const auto file = entry.path().filename().string();
    if (file.starts_with('.') || entries.size() == kMostEntries) continue;
    const bool folder = entry.is_directory(ignored);
    entries.push_back({{"name", file},
                       {"ref", ref + "/" + file},
                       {"folder", folder},
                       {"bytes", folder ? Json(nullptr) : Json(entry.file_size(ignored))}});
  }
  return json_answer({{"ref", ref}, {"entries", std::move(entries)}});
}

}  // namespace

void add_model_routes(Router& router, Services& services) {
  router.add("GET", "/api/models",
             [&](const Request&) { return json_answer(services.models.json()); });
  router.add("POST", "/api/models", [&](const Request& r) { return add_model(r, services); });
  router.add("DELETE", "/api/models/{ref}", [&](const Request& r) {
    auto ref = r.value("ref");
    constexpr std::string_view kKind = "model:";
    if (ref.starts_with(kKind)) ref.erase(0, kKind.size());
    services.models.remove(ref);
    return json_answer({{"ref", "model:" + ref}, {"deleted", true}});
  });
  router.add("GET", "/api/folders", [&](const Request&) {
    auto folders = Json::array();
    for (const auto& [name, path] : services.shared) {
      folders.push_back({{"name", name}, {"ref", "folder:" + name}});
    }
    return json_answer({{"folders", std::move(folders)}});
  });
  router.add("GET", "/api/folders/{name}",
             [&](const Request& r) { return list_folder(r, services); });
}

}  // namespace ubique::serve
