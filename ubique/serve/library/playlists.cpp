// SPDX-License-Identifier: Apache-2.0
// Playlists: names with items in an order.
#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/serve/library/items.h"

namespace ubique::serve {
namespace {

void check_playlist_name(const std::string& name) {
  check(!name.empty() && name.size() <= 200, ErrorKind::Usage,
        "[serve.playlist] the name; expected 1 to 200 bytes.");
}

}  // namespace

Json Library::playlist(std::int64_t id) const {
  const auto row = database_.row("SELECT id, name, created FROM playlists WHERE id = ?", {id});
  if (!row) missing("playlist", std::to_string(id));
  auto items = Json::array();
  for (const auto& item :
       database_.rows("SELECT item FROM playlist_items WHERE playlist = ? ORDER BY place", {id})) {
    items.push_back(item.text("item"));
  }
  return {{"id", row->text("id")},
          {"name", row->text("name")},
          {"created", row->text("created")},
          {"items", std::move(items)}};
}

Json Library::playlists() const {
  auto all = Json::array();
  for (const auto& row : database_.rows("SELECT id FROM playlists ORDER BY id")) {
    all.push_back(playlist(row.number("id")));
  }
  return {{"playlists", std::move(all)}};
}

void Library::put_items(std::int64_t playlist, const std::vector<std::int64_t>& items) {
  check(items.size() <= 10000, ErrorKind::Usage, "[serve.playlist] too many items.");
  database_.run("DELETE FROM playlist_items WHERE playlist = ?", {playlist});
  std::int64_t place = 0;
  for (const auto item : items) {
    require(item);
    database_.run("INSERT INTO playlist_items (playlist, place, item) VALUES (?, ?, ?)",
                  {playlist, place++, item});
  }
}

Json Library::add_playlist(const std::string& name, const std::vector<std::int64_t>& items) {
  check_playlist_name(name);
  Transaction transaction(database_);
  database_.run("INSERT INTO playlists (name, created) VALUES (?, ?)", {name, time_now()});
  const auto id = database_.last_id();
  put_items(id, items);
  transaction.commit();
  return playlist(id);
}

Json Library::change_playlist(std::int64_t id, const std::optional<std::string>& name,
                              const std::optional<std::vector<std::int64_t>>& items) {
  Transaction transaction(database_);
  playlist(id);
  if (name) {
    check_playlist_name(*name);
    database_.run("UPDATE playlists SET name = ? WHERE id = ?", {*name, id});
  }
  if (items) put_items(id, *items);
  transaction.commit();
  return playlist(id);
}

void Library::remove_playlist(std::int64_t id) {
  playlist(id);
  database_.run("DELETE FROM playlists WHERE id = ?", {id});
}

}  // namespace ubique::serve
