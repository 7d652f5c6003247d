// SPDX-License-Identifier: Apache-2.0
// Databases of earlier and later versions, and of other programs.
#include "ubique/serve/store/schema.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"

using namespace ubique;
using namespace ubique::serve;
using test::contains;
using test::ScratchFolder;

namespace {

std::int64_t version_in(const std::filesystem::path& path) {
  Database database(path);
  return database.row("PRAGMA user_version")->number("user_version");
}

/// As version 1 left it: without what came later.
void make_version_1(const ScratchFolder& folder) {
  const auto database = open_database(folder.path());
  database->script("DROP TABLE settings; PRAGMA user_version = 1");
  database->run(
      "INSERT INTO jobs (verb, family, name, title, request, lane, state, place, created) VALUES "
      "('run', 'trm', '', 'an old job', '{}', 'cpu', 'queued', 1, '2026-01-01T00:00:00Z')");
}

}  // namespace

TEST_CASE("store: an older database is brought up to date, and a copy of it is kept") {
  const ScratchFolder folder;
  make_version_1(folder);
  const auto database = open_database(folder.path());
  CHECK(database->row("PRAGMA user_version")->number("user_version") == kSchemaVersion);
  CHECK(database->row("SELECT title FROM jobs")->text("title") == "an old job");
  database->run("INSERT INTO settings (name, value) VALUES ('held', 'yes')");
  CHECK(version_in(folder / "studio.db.v1") == 1);
  Database copy(folder / "studio.db.v1");
  CHECK(copy.row("SELECT title FROM jobs")->text("title") == "an old job");
  CHECK_FALSE(copy.row("SELECT name FROM sqlite_master WHERE name = 'settings'"));
}

TEST_CASE("store: a database of a newer program is refused, and not a byte of it changes") {
  const ScratchFolder folder;
  open_database(folder.path())->script("PRAGMA user_version = 99");
  const auto before = read_file(folder / "studio.db");
  const auto refusal = test::refusal_of(ErrorKind::Input, [&] { open_database(folder.path()); });
  CHECK(contains(refusal, "newer version"));
  CHECK(contains(refusal, "got version 99, expected 2 at most"));
  CHECK(read_file(folder / "studio.db") == before);
  CHECK_FALSE(std::filesystem::exists(folder / "studio.db.v99"));
}

TEST_CASE("store: another program's database and what is none are left as they are") {
  const ScratchFolder folder;
  const auto path = folder / "studio.db";
  Database(path).script("CREATE TABLE songs (name TEXT); PRAGMA application_id = 7");
  auto before = read_file(path);
  CHECK(contains(test::refusal_of(ErrorKind::Input, [&] { open_database(folder.path()); }),
                 "another program's"));
  CHECK(read_file(path) == before);
  before = std::string(20000, 'x');
  write_file(path, before);
  CHECK(contains(test::refusal_of(ErrorKind::Input, [&] { open_database(folder.path()); }),
                 "not a database"));
  CHECK(read_file(path) == before);
}

TEST_CASE("store: a full disk is named, changes nothing, and is over when there is room again") {
  const ScratchFolder folder;
  const auto database = open_database(folder.path());
  const auto keep = [&](const std::string& name, std::size_t bytes) {
    Transaction transaction(*database);
    database->run("INSERT INTO settings (name, value) VALUES (?, ?)",
                  {name, std::string(bytes, 'x')});
    transaction.commit();
  };
  keep("before", 10);
  const auto pages = database->row("PRAGMA page_count")->number("page_count");
  database->script("PRAGMA max_page_count = " + std::to_string(pages));
  const auto refusal = test::refusal_of(ErrorKind::Input, [&] { keep("large", 1 << 20U); });
  CHECK(contains(refusal, "the disk is full. Free some space"));
  CHECK_THROWS_AS(keep("large", 1 << 20U), DiskFull);
  CHECK(database->row("SELECT count(*) AS n FROM settings")->number("n") == 1);
  database->script("PRAGMA max_page_count = 100000");
  keep("large", 1 << 20U);
  CHECK(database->row("SELECT count(*) AS n FROM settings")->number("n") == 2);
}

TEST_CASE("store: a transaction that is left early leaves nothing") {
  const ScratchFolder folder;
  const auto database = open_database(folder.path());
  const auto insert = [&] {
    database->run("INSERT INTO settings (name, value) VALUES ('a', 'b')");
  };
  const auto count = [&] {
    return database->row("SELECT count(*) AS n FROM settings")->number("n");
  };
  try {
    Transaction outer(*database);
    insert();
    Transaction inner(*database);
    inner.commit();
    fail(ErrorKind::Input, "[test] stop");
  } catch (const Error&) {
    CHECK(count() == 0);
  }
  Transaction again(*database);
  insert();
  again.commit();
  CHECK(count() == 1);
}
