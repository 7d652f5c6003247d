// SPDX-License-Identifier: Apache-2.0
// The library: what jobs made, with its files, likes and playlists.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ubique/serve/http/message.h"
#include "ubique/serve/queue/events.h"
#include "ubique/serve/queue/job.h"
#include "ubique/serve/store/database.h"
#include "ubique/serve/store/folders.h"

namespace ubique::serve {

struct ItemQuery {
  std::string kind = {}, words = {}, playlist = {};
  bool liked = false;
  std::int64_t before = 0, most = 100;
};

class Library {
 public:
  Library(Database& database, EventLog& events, const Folders& folders)
      : database_(database), events_(events), folders_(folders) {}

  /// The item of a job whose files are in place. Inside the transaction that ends the job.
  void add(const Job& job, const std::string& kind);

  Json get(std::int64_t id) const;  ///< with its outcome; 404 if there is none
  std::vector<Json> list(const ItemQuery& query) const;
  Json change(std::int64_t id, std::optional<std::string> title, std::optional<bool> liked);
  void remove(std::int64_t id);
  /// A file of an item. 404 if there is none of that name.
  std::filesystem::path file(std::int64_t id, const std::string& name) const;
  std::filesystem::path folder(std::int64_t id) const;  ///< 404 if there is no such item
  /// Folders whose item was removed, after a kill between the two.
  void clean() const;

  Json playlists() const;
  Json playlist(std::int64_t id) const;
  Json add_playlist(const std::string& name, const std::vector<std::int64_t>& items);
  Json change_playlist(std::int64_t id, const std::optional<std::string>& name,
                       const std::optional<std::vector<std::int64_t>>& items);
  void remove_playlist(std::int64_t id);

 private:
  Row require(std::int64_t id) const;
  void forget(std::int64_t id);
  Json json(const Row& row) const;
  void put_items(std::int64_t playlist, const std::vector<std::int64_t>& items);

  Database& database_;
  EventLog& events_;
  const Folders& folders_;
};

/// A path for an address: slashes stay, what a URL may not hold is escaped.
std::string url_path(const std::string& name);

}  // namespace ubique::serve
