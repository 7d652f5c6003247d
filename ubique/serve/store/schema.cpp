// SPDX-License-Identifier: Apache-2.0
// One step per version; a new database takes them all.
#include "ubique/serve/store/schema.h"

#include <sqlite3.h>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kApplication = 0x55425153;  // "UBQS", marks the file as ours

constexpr const char* kVersion1 = R"(
CREATE TABLE jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  again TEXT UNIQUE,                      -- the client's Idempotency-Key
  verb TEXT NOT NULL, family TEXT NOT NULL, name TEXT NOT NULL, title TEXT NOT NULL,
  request TEXT NOT NULL,                  -- JSON, as it was asked for
  lane TEXT NOT NULL,                     -- the device that it waits for
  state TEXT NOT NULL, stopping TEXT, waiting TEXT,
  priority INTEGER NOT NULL DEFAULT 0, place REAL NOT NULL,
  error_kind TEXT, error_message TEXT,
  item INTEGER, outcome TEXT,
  attempts INTEGER NOT NULL DEFAULT 0, crashes INTEGER NOT NULL DEFAULT 0,
  predicted INTEGER,
  created TEXT NOT NULL, started TEXT, ended TEXT);
CREATE INDEX jobs_by_state ON jobs (state, lane, priority DESC, place);
CREATE TABLE items (
  id INTEGER PRIMARY KEY,                 -- that of the job: one job makes one item
  kind TEXT NOT NULL, family TEXT NOT NULL, title TEXT NOT NULL, created TEXT NOT NULL,
  liked INTEGER NOT NULL DEFAULT 0,
  request TEXT NOT NULL, files TEXT NOT NULL);
CREATE TABLE playlists (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, created TEXT NOT NULL);
CREATE TABLE playlist_items (
  playlist INTEGER NOT NULL REFERENCES playlists (id) ON DELETE CASCADE,
  place INTEGER NOT NULL, item INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE,
  PRIMARY KEY (playlist, place));
CREATE TABLE uploads (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, mime TEXT NOT NULL,
  bytes INTEGER NOT NULL, created TEXT NOT NULL);
CREATE TABLE presets (name TEXT PRIMARY KEY, label TEXT NOT NULL, settings TEXT NOT NULL);
CREATE TABLE models (ref TEXT PRIMARY KEY, family TEXT NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL);
CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, data TEXT NOT NULL);
)";

// The queue may be held, and stays so over a restart.
constexpr const char* kVersion2 = R"(
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
)";

constexpr const char* kSteps[] = {kVersion1, kVersion2};
static_assert(std::size(kSteps) == kSchemaVersion);

std::int64_t pragma(Database& database, const std::string& name) {
  return database.row("PRAGMA " + name)->number(name);
}

/// Refuses what is not ours before anything is written.
std::int64_t version_of(const fs::path& path) {
  Database database(path);
  const auto application = pragma(database, "application_id");
  const auto version = pragma(database, "user_version");
  const bool empty = !database.row("SELECT name FROM sqlite_master LIMIT 1");
  check(empty || application == kApplication, ErrorKind::Input,
        "[serve.store] {} is another program's database; it was left as it is. --data names "
        "another folder.",
        path.string());
  check(version <= kSchemaVersion, ErrorKind::Input,
        "[serve.store] {} was written by a newer version of this program; got version {}, expected "
        "{} at most. It was left as it is: use the newer program, or --data with another folder.",
        path.string(), version, kSchemaVersion);
  return empty ? 0 : version;
}

void migrate(Database& database, std::int64_t from) {
  Transaction transaction(database);
  for (auto version = from; version < kSchemaVersion; ++version) database.script(kSteps[version]);
  database.script("PRAGMA application_id = " + std::to_string(kApplication));
  database.script("PRAGMA user_version = " + std::to_string(kSchemaVersion));
  transaction.commit();
}

}  // namespace

std::unique_ptr<Database> open_database(const fs::path& folder) {
  const auto path = folder / "studio.db";
  const auto version = version_of(path);
  auto database = std::make_unique<Database>(path);
  if (version > 0 && version < kSchemaVersion) {
    const auto copy = fs::path(path.string() + ".v" + std::to_string(version));
    std::error_code ignored;
    fs::remove(copy, ignored);
    database->run("VACUUM INTO ?", {copy.string()});  // a copy that is whole, with the WAL in it
    log::info("{} is brought up to date; the old one stays as {}", path.string(), copy.string());
  }
  // Readers do not wait for writers, and what was answered with 201 survives a power cut.
  database->script(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  if (version < kSchemaVersion) migrate(*database, version);
  return database;
}

}  // namespace ubique::serve
