// SPDX-License-Identifier: Apache-2.0
// Uploads by their content, items with their files, playlists, references, models, presets.
#include <doctest/doctest.h>
#include <zlib.h>

#include "tests/base/scratch.h"
#include "tests/serve/table.h"
#include "ubique/base/files/file.h"
#include "ubique/serve/library/file_types.h"
#include "ubique/serve/library/items.h"
#include "ubique/serve/library/presets.h"
#include "ubique/serve/library/references.h"
#include "ubique/serve/store/schema.h"

using namespace ubique;
using namespace ubique::serve;
using test::contains;
using test::ScratchFolder;
using namespace std::string_literals;

namespace {

namespace fs = std::filesystem;

struct Shelf {
  ScratchFolder scratch;
  Folders folders{scratch / "data"};
  std::unique_ptr<Database> database = open_database(folders.root);
  EventLog events{*database};
  Library library{*database, events, folders};
  Uploads uploads{*database, folders};
  Models models{*database, folders, [](const fs::path&) { return "trm"s; }, {}};
  SharedFolders shared{{"sets", scratch / "sets"}};
  References references{uploads, library, models, shared};

  /// What became of an upload of that name with these bytes: "415", or its name and type.
  std::string upload(const std::string& name, const std::string& bytes) {
    ReceivedFile file{.field = "file",
                      .name = name,
                      .type = "image/png",
                      .path = folders.temporary / "received",
                      .bytes = static_cast<std::int64_t>(bytes.size())};
    write_file(file.path, bytes);
    try {
      const auto kept = uploads.take(file);
      CHECK(read_file(kept.path) == bytes);
      return kept.name + " " + kept.type;
    } catch (const ErrorAnswer& answer) {
      return std::to_string(answer.status);
    }
  }
  void add_item(std::int64_t id, const std::string& title) {
    fs::create_directories(folders.result(id) / "sub");
    write_file(folders.result(id) / "sub" / "a b#.txt", "hello");
    write_file(folders.result(id) / "job.json", "{}");
    Transaction transaction(*database);
    library.add({.id = id, .request = {.verb = "run", .family = "acestep"}, .title = title},
                "song");
    transaction.commit();
  }
};

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(bytes.size() + 1000, '\0'), input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

std::string nifti() { return std::string(344, '\0') + "n+1\0"s + std::string(200, '\0'); }

int status_of(const std::function<void()>& code) {
  try {
    code();
  } catch (const ErrorAnswer& answer) {
    return answer.status;
  }
  return 0;
}

}  // namespace

TEST_CASE("uploads: what a file is, its content says; its name and type may lie") {
  Shelf shelf;
  const auto wav = "RIFF\x24\0\0\0WAVEfmt "s;
  CHECK(shelf.upload("song.wav", wav) == "song.wav sound");
  CHECK(shelf.upload("picture.png", wav) == "picture.png.wav sound");
  CHECK(shelf.upload("head.nii.gz", gzip(nifti())) == "head.nii.gz scan");
  CHECK(shelf.upload("head.png", nifti()) == "head.png.nii scan");
  CHECK(shelf.upload("../../x.jpeg", "\xFF\xD8\xFF\xE0 JFIF") == "x.jpeg picture");
  CHECK(shelf.upload("notes.md", "Grüße\n") == "notes.md text");
  CHECK(shelf.upload("sudoku", "53..7....6..195...") == "sudoku.txt puzzle");
}

TEST_CASE("uploads: programs, pages and what nobody knows are refused") {
  Shelf shelf;
  for (const auto& bytes :
       {"\x7F"s + "ELF\x02\x01\x01\0"s, "MZ\x90\0"s, "PK\x03\x04"s, ""s, "\0\0\0\0"s,
        "<!DOCTYPE html><script>alert(1)</script>"s, "  <svg onload=alert(1)>"s, "<?xml version"s,
        "RIFX\0\0\0\0WAVE"s, gzip("just text"), "\x1F\x8B broken"s}) {
    CHECK_MESSAGE(shelf.upload("song.wav", bytes) == "415", bytes.substr(0, 8));
  }
  CHECK(fs::is_empty(shelf.folders.uploads));
}

TEST_CASE("uploads: folders that a kill left without a row go, the others stay") {
  Shelf shelf;
  const auto kept = shelf.uploads.keep_text("a.txt", "x");
  fs::create_directories(shelf.folders.uploads / "orphan");
  shelf.uploads.clean();
  CHECK(fs::exists(kept.path));
  CHECK_FALSE(fs::exists(shelf.folders.uploads / "orphan"));
  shelf.uploads.remove(kept.id);
  CHECK_FALSE(fs::exists(kept.path.parent_path()));
  CHECK(status_of([&] { shelf.uploads.get(kept.id); }) == 404);
}

TEST_CASE("uploads: a folder has its files under their names, and outlives them") {
  Shelf shelf;
  const auto song = shelf.uploads.keep_text("a.txt", "la");
  const auto words = shelf.uploads.keep_text("a_prompt.txt", "saw");
  const auto both = {"upload:" + song.id, "upload:" + words.id};
  const auto folder = shelf.uploads.keep_folder(both);
  CHECK(folder.bytes == 5);
  shelf.uploads.remove(song.id);
  const auto path = shelf.references.resolve("upload:" + folder.id);
  CHECK(read_file(path / "a.txt") == "la");
  CHECK(read_file(path / "a_prompt.txt") == "saw");
  const std::vector<std::string> twice = {"upload:" + words.id, "upload:" + words.id};
  CHECK(contains(test::error_of([&] { shelf.uploads.keep_folder(twice); }), "different names"));
  const std::vector<std::string> nested = {"upload:" + folder.id};
  CHECK(contains(test::error_of([&] { shelf.uploads.keep_folder(nested); }), "or a folder"));
  shelf.uploads.remove(folder.id);
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("library: items are searched word by word, and signs of patterns are plain ones") {
  Shelf shelf;
  shelf.add_item(1, "Slow funk");
  shelf.add_item(2, "100% jazz_rock");
  const auto found = [&](const std::string& words) {
    std::vector<std::string> ids;
    for (const auto& item : shelf.library.list({.words = words})) ids.push_back(item["id"]);
    return ids;
  };
  using Ids = std::vector<std::string>;
  CHECK(found("") == Ids{"2", "1"});
  CHECK(found("FUNK slow") == Ids{"1"});
  CHECK(found("100%") == Ids{"2"});
  CHECK(found("%") == Ids{"2"});
  CHECK(found("w_f").empty());
  CHECK(found("'; DROP TABLE items; --").empty());
  CHECK(found("jazz").size() == 1);
  shelf.library.change(1, "Renamed", true);
  CHECK(shelf.library.list({.liked = true}).size() == 1);
  CHECK(shelf.library.get(1)["title"] == "Renamed");
}

TEST_CASE("library: files have addresses that work, and nothing outside is one of them") {
  Shelf shelf;
  shelf.add_item(1, "x");
  const auto item = shelf.library.get(1);
  REQUIRE(item["files"].size() == 1);
  CHECK(item["files"][0]["url"] == "/api/library/1/files/sub/a%20b%23.txt");
  CHECK(read_file(shelf.library.file(1, "sub/a b#.txt")) == "hello");
  fs::create_symlink("/etc/passwd", shelf.folders.result(1) / "link");
  for (const auto* name : {"../../studio.db", "link", "/etc/passwd", "sub", "", "missing"}) {
    CHECK_MESSAGE(status_of([&] { shelf.library.file(1, name); }) == 404, name);
  }
  CHECK(status_of([&] { shelf.library.file(2, "x"); }) == 404);
}

TEST_CASE("library: a removed item is gone with its files, also after a kill between the two") {
  Shelf shelf;
  shelf.add_item(1, "x");
  shelf.add_item(2, "y");
  shelf.library.remove(1);
  CHECK_FALSE(fs::exists(shelf.folders.result(1)));
  shelf.database->run("DELETE FROM items WHERE id = 2");  // the kill
  fs::create_directories(shelf.folders.result(3));        // nobody's mark: not ours to remove
  shelf.library.clean();
  CHECK_FALSE(fs::exists(shelf.folders.result(2)));
  CHECK(fs::exists(shelf.folders.result(3)));
}

TEST_CASE("playlists: keep their order, and lose an item with the library") {
  Shelf shelf;
  for (int i = 1; i <= 3; ++i) shelf.add_item(i, "x");
  const auto list = shelf.library.add_playlist("mine", {3, 1, 2});
  const auto id = std::stoll(list["id"].get<std::string>());
  CHECK(list["items"] == Json({"3", "1", "2"}));
  shelf.library.remove(1);
  CHECK(shelf.library.playlist(id)["items"] == Json({"3", "2"}));
  CHECK(status_of([&] { shelf.library.change_playlist(id, "x", std::vector<std::int64_t>{99}); }) ==
        404);
  CHECK(shelf.library.playlist(id)["name"] == "mine");  // all of a change or nothing
  CHECK(shelf.library.list({.playlist = std::to_string(id)}).size() == 2);
  shelf.library.remove_playlist(id);
  CHECK(shelf.library.playlists()["playlists"].empty());
}

TEST_CASE("references: name files of four places and nothing else") {
  Shelf shelf;
  fs::create_directories(shelf.scratch / "sets");
  write_file(shelf.scratch / "sets" / "a.csv", "1");
  write_file(shelf.scratch / "secret", "1");
  write_file(shelf.folders.models / "net.pt", "1");
  shelf.add_item(1, "x");
  const auto upload = shelf.uploads.keep_text("a.txt", "x");
  const auto resolve = [&](const std::string& text) { return shelf.references.resolve(text); };
  CHECK(resolve("upload:" + upload.id) == upload.path);
  CHECK(resolve("library:1/sub/a b#.txt").filename() == "a b#.txt");
  CHECK(resolve("model:data/net.pt") == shelf.folders.models / "net.pt");
  CHECK(resolve("folder:sets/a.csv").filename() == "a.csv");
  for (const auto* text : {"", "/etc/passwd", "file:/etc/passwd", "upload:../../x", "upload:x",
                           "library:1/../../studio.db", "library:9", "library:x", "folder:sets/..",
                           "folder:sets/../secret", "folder:other/a", "model:data/../x",
                           "model:/etc/passwd", "upload:"}) {
    CHECK_MESSAGE(contains(test::error_of([&] { resolve(text); }), "input: "), text);
  }
  fs::remove(upload.path);
  CHECK(contains(test::error_of([&] { resolve("upload:" + upload.id); }), "is gone"));
}

TEST_CASE("models: one that is added by path is found by name until its files are gone") {
  Shelf shelf;
  const auto folder = shelf.scratch / "net";
  fs::create_directories(folder);
  const auto first = shelf.models.add(folder, "my net");
  CHECK(first.ref == "model:my_net");
  CHECK(shelf.models.add(folder, "my net").ref == "model:my_net-2");
  CHECK(shelf.models.resolve("my_net") == fs::canonical(folder));
  CHECK_FALSE(contains(json_text(shelf.models.json()), fs::canonical(folder).string()));
  CHECK(shelf.models.json()["models"].size() == 2);
  fs::remove(folder);
  CHECK(shelf.models.json()["models"].empty());  // it cannot be chosen; jobs that named it say why
  CHECK(contains(test::error_of([&] { shelf.models.resolve("my_net"); }), "are gone"));
  shelf.models.remove("my_net");
  CHECK(status_of([&] { shelf.models.remove("my_net"); }) == 404);
  CHECK(contains(test::error_of([&] { shelf.models.add("/nowhere", ""); }), "no such file"));
}

TEST_CASE("presets: one's own are kept and removed, the program's are not") {
  Shelf shelf;
  Presets presets(*shelf.database);
  presets.put("mine", "My sound", {{"tags", "funk"}});
  const auto shown = presets.json()["presets"];
  CHECK(shown.back()["label"] == "My sound");
  CHECK(shown.back()["settings"]["tags"] == "funk");
  const auto shipped = shown.front()["name"].get<std::string>();
  CHECK(shown.front()["source"] == "shipped");
  CHECK(status_of([&] { presets.put(shipped, "", {{"tags", "x"}}); }) == 409);
  CHECK(status_of([&] { presets.remove(shipped); }) == 409);
  presets.remove("mine");
  CHECK(status_of([&] { presets.remove("mine"); }) == 404);
}
