// SPDX-License-Identifier: Apache-2.0
// Atomic writes, limited reads, memory maps and the cache folder.
#include "ubique/base/files/file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/base/scratch.h"

using namespace ubique;
using test::contains;
using test::error_of;
namespace fs = std::filesystem;

namespace {
std::string mapped_text(const MappedFile& file) {
  const auto bytes = file.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
unsigned mode_of(const fs::path& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777U;
}
}  // namespace

TEST_CASE("file: what is written reads back, and nothing else is left in the folder") {
  const test::ScratchFolder folder;
  const std::string content("a\0b\n", 4);
  write_file(folder / "x", content);
  CHECK(read_file(folder / "x") == content);
  write_file(folder / "x", "");
  CHECK(read_file(folder / "x").empty());
  CHECK(folder.count() == 1);
}

TEST_CASE("file: an atomic file appears only on commit") {
  const test::ScratchFolder folder;
  write_file(folder / "x", "old");
  {
    AtomicFile file(folder / "x");
    file.write("new ");
    file.write("text");
    CHECK(file.size() == 8);
    CHECK(read_file(folder / "x") == "old");
    file.commit();
    CHECK(read_file(folder / "x") == "new text");
    CHECK(contains(error_of([&] { file.commit(); }), "internal: [base.file]"));
    CHECK(contains(error_of([&] { file.write("more"); }), "internal: [base.file]"));
  }
  CHECK(read_file(folder / "x") == "new text");
  CHECK(folder.count() == 1);
}

TEST_CASE("file: without a commit the old file stays and the temporary file is removed") {
  const test::ScratchFolder folder;
  write_file(folder / "x", "old");
  const auto leave_early = [&] {
    AtomicFile file(folder / "x");
    file.write("half");
    CHECK(folder.count() == 2);
    fail(ErrorKind::Device, "[test] out of memory");
  };
  CHECK(contains(error_of(leave_early), "device"));
  CHECK(read_file(folder / "x") == "old");
  CHECK(folder.count() == 1);
}

TEST_CASE("file: a replaced file keeps its permissions, a new one follows the umask") {
  const test::ScratchFolder folder;
  const auto umask_before = ::umask(027);
  write_file(folder / "new", "1");
  ::umask(umask_before);
  CHECK(mode_of(folder / "new") == 0640U);
  REQUIRE(::chmod((folder / "new").c_str(), 0604) == 0);
  write_file(folder / "new", "2");
  CHECK(mode_of(folder / "new") == 0604U);
}

TEST_CASE("file: writing through a link replaces what it points to") {
  const test::ScratchFolder folder;
  write_file(folder / "real", "old");
  fs::create_symlink("real", folder / "link");
  write_file(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read_file(folder / "real") == "new");
}

TEST_CASE("file: a plain name writes into the current folder") {
  const test::ScratchFolder folder;
  const auto before = fs::current_path();
  fs::current_path(folder.path());
  write_file("plain", "here");
  fs::current_path(before);
  CHECK(read_file(folder / "plain") == "here");
}

TEST_CASE("file: targets that cannot be written are input errors that name them") {
  const test::ScratchFolder folder;
  write_file(folder / "file", "");
  const auto write_error = [](const fs::path& path) {
    return error_of([&] { write_file(path, "x"); });
  };
  CHECK(contains(write_error(folder / "no/such/x"), "input: [base.file] cannot write"));
  CHECK(contains(write_error(folder / "no/such/x"), "no/such/x"));
  CHECK(contains(write_error(folder / "file/x"), "input: [base.file] cannot write"));
  CHECK(contains(write_error(folder.path()), "it is a folder or a device"));
  CHECK(contains(write_error("/dev/null"), "it is a folder or a device"));
  CHECK(folder.count() == 1);
}

TEST_CASE("file: reading is limited, and what cannot be read is an input error") {
  const test::ScratchFolder folder;
  write_file(folder / "x", std::string(1000, 'x'));
  CHECK(read_file(folder / "x", 1000).size() == 1000);
  CHECK(contains(error_of([&] { read_file(folder / "x", 999); }), "input: [base.file]"));
  CHECK(contains(error_of([&] { read_file(folder / "none"); }), "none"));
  CHECK(contains(error_of([&] { read_file(folder.path()); }), "input: [base.file] cannot read"));
}

TEST_CASE("file: a pipe or a device is refused at once, for it may never end") {
  const test::ScratchFolder folder;
  const auto pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const fs::path& path : {fs::path("/dev/zero"), fs::path("/dev/null"), pipe}) {
    CAPTURE(path.string());
    const auto expected = "input: [base.file] cannot read " + path.string() + "; it is a folder, a";
    CHECK(contains(error_of([&] { read_file(path); }), expected));
    CHECK(contains(error_of([&] { read_start(path, 10); }), expected));
  }
}

TEST_CASE("file: the start of a file is read, or all of a shorter one") {
  const test::ScratchFolder folder;
  write_file(folder / "x", std::string(100'000, 'x') + "y");
  CHECK(read_start(folder / "x", 10) == std::string(10, 'x'));
  CHECK(read_start(folder / "x", 200'000).size() == 100'001);
  CHECK(contains(error_of([&] { read_start(folder / "none", 4); }), "none"));
}

TEST_CASE("file: a map shows the file, moves, and takes an empty one") {
  const test::ScratchFolder folder;
  write_file(folder / "x", "content");
  write_file(folder / "empty", "");
  MappedFile first(folder / "x");
  CHECK(mapped_text(first) == "content");
  CHECK(first.path() == folder / "x");
  MappedFile second(std::move(first));
  CHECK(mapped_text(second) == "content");
  MappedFile third(folder / "empty");
  CHECK(third.bytes().empty());
  third = std::move(second);
  CHECK(mapped_text(third) == "content");
  write_file(folder / "x", "replaced");
  CHECK(mapped_text(third) == "content");
  CHECK(contains(error_of([&] { MappedFile file(folder / "none"); }), "input: [base.file] cannot"));
  CHECK(
      contains(error_of([&] { MappedFile file(folder.path()); }), "input: [base.file] cannot map"));
}

TEST_CASE("file: the cache folder follows the variables in their order") {
  const test::ScopedVariable own("UBIQUE_CACHE_DIR", "/own");
  const test::ScopedVariable shared("XDG_CACHE_HOME", "/shared");
  const test::ScopedVariable home("HOME", "/home/someone");
  CHECK(cache_folder() == "/own");
  const test::ScopedVariable no_own("UBIQUE_CACHE_DIR", nullptr);
  CHECK(cache_folder() == "/shared/ubique");
  const test::ScopedVariable relative("XDG_CACHE_HOME", "relative");
  CHECK(cache_folder().string().starts_with("/home/someone/"));
  const test::ScopedVariable no_home("HOME", nullptr);
  CHECK(cache_folder().is_absolute());
}

TEST_CASE("file: mapping a pipe is refused at once instead of waiting for a writer") {
  const test::ScratchFolder scratch;
  const auto pipe = scratch / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_AS(MappedFile{pipe}, Error);
}

TEST_CASE("file: links in a circle are named, and what is missing is left to the caller") {
  const test::ScratchFolder folder;
  fs::create_symlink("loop", folder / "loop");
  CHECK(contains(error_of([&] { check_readable(folder / "loop"); }), "loop; Too many levels"));
  CHECK(contains(error_of([&] { make_folder(folder / "loop"); }), "cannot make the folder"));
  CHECK(error_of([&] { check_readable(folder / "nothing"); }) == "no error");
  CHECK(error_of([&] { check_readable(folder.path()); }) == "no error");
}
