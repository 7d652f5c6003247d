// SPDX-License-Identifier: Apache-2.0
// /api/library, /api/playlists and /api/presets.
#include "ubique/base/error.h"
#include "ubique/base/text/json_fields.h"
#include "ubique/serve/library/file_types.h"
#include "ubique/serve/routes/routes.h"

namespace ubique::serve {
namespace {

Response list_items(const Request& request, Services& services) {
  ItemQuery query{.kind = request.asked("kind"),
                  .words = request.asked("q"),
                  .playlist = request.asked("playlist"),
                  .liked = request.asked("liked") == "true" || request.asked("liked") == "1",
                  .before = id_of(request.asked("after")),
                  .most = request.number("limit", 100, 1, 500)};
  auto found = services.library.list(query);
  const bool more = static_cast<std::int64_t>(found.size()) == query.most;
  const auto next = more ? found.back()["id"] : Json(nullptr);
  return json_answer({{"items", std::move(found)}, {"next", next}});
}

Response change_item(const Request& request, Services& services) {
  JsonFields fields(request.json(), "serve.library", "the change");
  std::optional<std::string> title;
  std::optional<bool> liked;
  if (const auto json = fields.take_json("title"); !json.is_null()) title = json.get<std::string>();
  if (const auto json = fields.take_json("liked"); !json.is_null()) liked = json.get<bool>();
  fields.finish();
  check(!title || (!title->empty() && title->size() <= 400), ErrorKind::Usage,
        "[serve.library] the title; expected 1 to 400 bytes.");
  return json_answer(services.library.change(id_in_path(request, "id", "item"), title, liked));
}

Response remove_item(const Request& request, Services& services) {
  const auto id = id_in_path(request, "id", "item");
  if (request.asked("confirm") != "yes") {
    services.library.get(id);
    refuse(409, "conflict",
           "[serve.library] the item would be removed with its files; ?confirm=yes does it.");
  }
  services.library.remove(id);
  return json_answer({{"id", std::to_string(id)}, {"deleted", true}});
}

std::vector<std::int64_t> item_ids(const Json& json) {
  std::vector<std::int64_t> ids;
  for (const auto& text : json.get<std::vector<std::string>>()) ids.push_back(id_of(text));
  return ids;
}

struct PlaylistChange {
  std::optional<std::string> name;
  std::optional<std::vector<std::int64_t>> items;
};

PlaylistChange playlist_change(const Request& request) {
  JsonFields fields(request.json(), "serve.playlist", "the playlist");
  PlaylistChange change;
  if (const auto json = fields.take_json("name"); !json.is_null()) {
    change.name = json.get<std::string>();
  }
  if (const auto json = fields.take_json("items"); !json.is_null()) change.items = item_ids(json);
  // AceForge's scripts send these too.
  fields.take_json("description");
  fields.take_json("isPublic");
  fields.finish();
  return change;
}

void add_playlist_routes(Router& router, Services& services) {
  auto& library = services.library;
  const RouteRules foreign{.foreign = true};
  router.add("GET", "/api/playlists",
             [&](const Request&) { return json_answer(library.playlists()); });
  router.add(
      "POST", "/api/playlists",
      [&](const Request& r) {
        const auto change = playlist_change(r);
        return json_answer(library.add_playlist(change.name.value_or(""),
                                                change.items.value_or(std::vector<std::int64_t>())),
                           201);
      },
      foreign);
  router.add("GET", "/api/playlists/{id}", [&](const Request& r) {
    return json_answer(library.playlist(id_in_path(r, "id", "playlist")));
  });
  router.add(
      "PATCH", "/api/playlists/{id}",
      [&](const Request& r) {
        const auto change = playlist_change(r);
        return json_answer(
            library.change_playlist(id_in_path(r, "id", "playlist"), change.name, change.items));
      },
      foreign);
  router.add(
      "DELETE", "/api/playlists/{id}",
      [&](const Request& r) {
        const auto id = id_in_path(r, "id", "playlist");
        library.remove_playlist(id);
        return json_answer({{"id", std::to_string(id)}, {"deleted", true}});
      },
      foreign);
}

void add_preset_routes(Router& router, Services& services) {
  auto& presets = services.presets;
  router.add("GET", "/api/presets", [&](const Request&) { return json_answer(presets.json()); });
  router.add("PUT", "/api/presets/{name}", [&](const Request& r) {
    JsonFields fields(r.json(), "serve.preset", "the preset");
    std::string label;
    fields.take("label", label);
    const auto settings = fields.take_json("settings");
    fields.finish();
    return json_answer(presets.put(r.value("name"), label, settings));
  });
  router.add("DELETE", "/api/presets/{name}", [&](const Request& r) {
    presets.remove(r.value("name"));
    return json_answer({{"name", r.value("name")}, {"deleted", true}});
  });
}

}  // namespace

void add_library_routes(Router& router, Services& services) {
  router.add("GET", "/api/library", [&](const Request& r) { return list_items(r, services); });
  router.add("GET", "/api/library/{id}", [&](const Request& r) {
    return json_answer(services.library.get(id_in_path(r, "id", "item")));
  });
  router.add("PATCH", "/api/library/{id}",
             [&](const Request& r) { return change_item(r, services); });
  router.add("DELETE", "/api/library/{id}",
             [&](const Request& r) { return remove_item(r, services); });
  router.add("GET", "/api/library/{id}/files/{name*}", [&](const Request& r) {
    const auto path = services.library.file(id_in_path(r, "id", "item"), r.value("name"));
    return file_answer(path, mime_of(path), r);
  });
  add_playlist_routes(router, services);
  add_preset_routes(router, services);
}

}  // namespace ubique::serve
