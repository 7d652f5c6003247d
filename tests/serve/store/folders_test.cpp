// SPDX-License-Identifier: Apache-2.0
// Names from outside never leave their folder; one server per data folder.
#include "ubique/serve/store/folders.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"

using namespace ubique;
using namespace ubique::serve;
using test::ScratchFolder;

TEST_CASE("folders: a client's file name becomes a plain one, with its ending") {
  CHECK(safe_name("scan.nii.gz") == "scan.nii.gz");
  CHECK(safe_name("../../etc/passwd") == "passwd");
  CHECK(safe_name("C:\\Users\\me\\song.wav") == "song.wav");
  CHECK(safe_name(".bashrc") == "bashrc");
  CHECK(safe_name("...") == "file");
  CHECK(safe_name("") == "file");
  CHECK(safe_name("a b\"<script>.png") == "a_b__script_.png");
  CHECK(safe_name("Grüße.txt") == "Grüße.txt");
  CHECK(safe_name("\xff\xfe.wav") == "file");
  CHECK(safe_name(std::string("a\0b.wav", 7)) == "a_b.wav");
  const auto cut = safe_name(std::string(300, 'x') + ".nii.gz");
  CHECK(cut.size() == 100);
  CHECK(cut.ends_with(".nii.gz"));
  CHECK(safe_name("-rf") == "rf");
}

TEST_CASE("folders: a path is inside only with its links followed") {
  const ScratchFolder folder;
  const auto base = folder / "base";
  std::filesystem::create_directories(base / "sub");
  write_file(base / "sub" / "file.txt", "x");
  write_file(folder / "secret.txt", "x");
  std::filesystem::create_symlink(folder / "secret.txt", base / "link.txt");
  std::filesystem::create_directory_symlink(folder.path(), base / "out");
  std::filesystem::create_symlink("sub/file.txt", base / "good.txt");

  CHECK(inside(base, "sub/file.txt"));
  CHECK(inside(base, "good.txt"));
  CHECK(inside(base, "."));
  for (const auto* path : {"../secret.txt", "sub/../../secret.txt", "link.txt", "out/secret.txt",
                           "/etc/passwd", "missing.txt", "sub/..", ".."}) {
    CHECK_MESSAGE(!inside(base, path), path);
  }
  CHECK_FALSE(inside(base, std::string("sub/file.txt\0.png", 17)));
  // A folder whose name begins like the base's is another one.
  std::filesystem::create_directories(folder / "base2");
  write_file(folder / "base2" / "x", "x");
  std::filesystem::create_symlink(folder / "base2" / "x", base / "near");
  CHECK_FALSE(inside(base, "near"));
}

TEST_CASE("folders: one server has a data folder; another learns its address") {
  const ScratchFolder scratch;
  const Folders folders(scratch / "data");
  {
    FolderLock first(folders);
    REQUIRE(first.held());
    first.write_note("http://127.0.0.1:7870\n");
    const FolderLock second(folders);
    CHECK_FALSE(second.held());
    CHECK(second.note() == "http://127.0.0.1:7870\n");
    first.write_note("http://x\n");
    CHECK(second.note() == "http://x\n");
  }
  CHECK(FolderLock(folders).held());
  const auto rights = std::filesystem::status(folders.root).permissions();
  CHECK((rights & (std::filesystem::perms::group_all | std::filesystem::perms::others_all)) ==
        std::filesystem::perms::none);
}
