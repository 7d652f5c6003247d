// SPDX-License-Identifier: Apache-2.0
// /api/songs and /api/search: the library's songs in AceForge's form.
#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/serve/aceforge/routes.h"
#include "ubique/serve/library/file_types.h"
#include "ubique/serve/routes/routes.h"

namespace ubique::serve {
namespace {

constexpr std::int64_t kMostSongs = 500;

Json option_or(const Json& item, const char* key) {
  const auto& options = item["request"]["options"];
  return options.is_object() ? options.value(key, Json("")) : Json("");
}

/// Of the first song of an item; null if the command did not say.
Json length_of(const Json& item) {
  const auto& outcome = item["outcome"];
  if (!outcome.is_object()) return nullptr;
  const auto songs = outcome.find("songs");
  if (songs == outcome.end() || !songs->is_array() || songs->empty()) return nullptr;
  const auto& first = songs->front();
  return first.is_object() ? first.value("seconds", Json(nullptr)) : Json(nullptr);
}

Json song_json(const Json& item) {
  const auto id = item["id"].get<std::string>();
  const auto audio = "/api/songs/" + id + "/audio";
  return {{"id", id},
          {"title", item["title"]},
          {"style", option_or(item, "tags")},
          {"lyrics", option_or(item, "lyrics")},
          {"duration", length_of(item)},
          {"audioUrl", audio},
          {"audio_url", audio},
          {"liked", item["liked"]},
          {"created_at", item["created"]}};
}

/// The item, if it is a song.
Json song_item(const Request& request, const Services& services) {
  const auto id = id_in_path(request, "id", "song");
  auto item = services.library.get(id);
  if (item["kind"] != "song") missing("song", request.value("id"));
  return item;
}

std::int64_t number_of(const Json& item) { return id_of(item["id"].get<std::string>()); }

Json songs_json(const ItemQuery& query, const Services& services) {
  auto songs = Json::array();
  for (const auto& item : services.library.list(query)) {
    songs.push_back(song_json(services.library.get(number_of(item))));
  }
  return songs;
}

Response change_song(const Request& request, Services& services) {
  const auto item = song_item(request, services);
  const auto body = request.json();
  const auto title = body.value("title", Json(nullptr));
  check(title.is_string() && !title.get<std::string>().empty() &&
            title.get<std::string>().size() <= 400,
        ErrorKind::Usage, "[serve.songs] \"title\"; expected 1 to 400 bytes.");
  services.library.change(number_of(item), title.get<std::string>(), std::nullopt);
  return json_answer({{"song", song_json(services.library.get(number_of(item)))}});
}

Response song_audio(const Request& request, Services& services) {
  const auto item = song_item(request, services);
  const auto sound = sound_of_item(item);
  if (sound.empty()) missing("sound of song", request.value("id"));
  const auto path = services.library.file(number_of(item), sound);
  return file_answer(path, mime_of(path), request);
}

Response like_song(const Request& request, Services& services) {
  const auto item = song_item(request, services);
  const bool liked = !item["liked"].get<bool>();
  services.library.change(number_of(item), std::nullopt, liked);
  return json_answer({{"liked", liked}});
}

Response search(const Request& request, Services& services) {
  const auto words = request.asked("q");
  auto playlists = Json::array();
  const auto all = services.library.playlists();
  for (const auto& list : all["playlists"]) {
    const auto name = list["name"].get<std::string>();
    if (name.find(words) != std::string::npos) playlists.push_back(list);
  }
  return json_answer(
      {{"songs", songs_json({.kind = "song", .words = words, .most = kMostSongs}, services)},
       {"playlists", std::move(playlists)}});
}

}  // namespace

std::string sound_of_item(const Json& item) {
  for (const auto& file : item["files"]) {
    const auto type = file["type"].get<std::string>();
    if (type.starts_with("audio/")) return file["name"].get<std::string>();
  }
  return {};
}

void add_song_routes(Router& router, Services& services) {
  const RouteRules foreign{.foreign = true};
  const auto add = [&](const char* method, const char* pattern, Handler handler,
                       const RouteRules& rules = {}) {
    router.add(method, pattern, in_aceforge_form(std::move(handler)), rules);
  };
  const auto listed = [&services](bool liked) {
    return [&services, liked](const Request&) {
      const ItemQuery query{.kind = "song", .liked = liked, .most = kMostSongs};
      return json_answer({{"songs", songs_json(query, services)}});
    };
  };
  add("GET", "/api/songs", listed(false));
  add("GET", "/api/songs/liked", listed(true));
  add("GET", "/api/songs/{id}", [&](const Request& r) {
    return json_answer({{"song", song_json(song_item(r, services))}});
  });
  add(
      "PATCH", "/api/songs/{id}", [&](const Request& r) { return change_song(r, services); },
      foreign);
  add(
      "DELETE", "/api/songs/{id}",
      [&](const Request& r) {
        services.library.remove(number_of(song_item(r, services)));
        return json_answer({{"success", true}});
      },
      foreign);
  add("GET", "/api/songs/{id}/audio", [&](const Request& r) { return song_audio(r, services); });
  add(
      "POST", "/api/songs/{id}/like", [&](const Request& r) { return like_song(r, services); },
      foreign);
  add("GET", "/api/search", [&](const Request& r) { return search(r, services); });
}

}  // namespace ubique::serve
