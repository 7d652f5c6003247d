// SPDX-License-Identifier: Apache-2.0
// Real faults: a disk that fills up in the middle and a process that is killed. Both happen in a
// child process, so that the limit and the signal stay there.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "tests/base/child.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/base/files/output_path.h"

using namespace ubique;
using test::start_child;
using test::wait_for;

TEST_CASE("file: a write that fails in the middle leaves the old file and no temporary") {
  const test::ScratchFolder folder;
  write_file(folder / "x", "old");
  const auto child = start_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{8192, 8192};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    AtomicFile file(folder / "x");
    file.write(std::string(8000, 'n'));
    const auto error = test::error_of([&] { file.write(std::string(1'000'000, 'n')); });
    if (!test::contains(error, "input: [base.file] cannot write")) return 2;
    if (folder.count() != 1) return 3;
    if (!test::contains(test::error_of([&] { file.commit(); }), "internal")) return 4;
    return 0;
  });
  const int status = wait_for(child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(read_file(folder / "x") == "old");
  CHECK(folder.count() == 1);
}

TEST_CASE("file: what may not be read or written is named with the reason") {
  const test::ScratchFolder folder;
  write_file(folder / "denied", "x");
  make_folder(folder / "locked");
  REQUIRE(::chmod((folder / "denied").c_str(), 0) == 0);
  REQUIRE(::chmod((folder / "locked").c_str(), 0) == 0);
  const auto child = start_child([&] {
    if (!test::become_ordinary_user()) return 77;
    const auto is_denied = [](const auto& code) {
      const auto error = test::error_of(code);
      return error.starts_with("input: [base.file]") && test::contains(error, "Permission denied");
    };
    if (!is_denied([&] { check_readable(folder / "denied"); })) return 1;
    if (!is_denied([&] { check_readable(folder / "locked"); })) return 2;
    if (!is_denied([&] { check_readable(folder / "locked/x"); })) return 3;
    if (!is_denied([&] { make_folder(folder / "locked"); })) return 4;
    if (!is_denied([&] { check_output_folder(folder / "locked/a/b"); })) return 5;
    return 0;
  });
  const int status = wait_for(child);
  ::chmod((folder / "locked").c_str(), 0700);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) {
    MESSAGE("skipped: this system lets root not become another user");
  } else {
    CHECK(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("file: a process killed half-way leaves the old file") {
  const test::ScratchFolder folder;
  write_file(folder / "x", "old");
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const auto child = start_child([&] {
    AtomicFile file(folder / "x");
    file.write(std::string(100'000, 'n'));
    if (::write(ready[1], "!", 1) != 1) return 1;
    while (true) ::pause();
    return 0;
  });
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::kill(child, SIGKILL);
  CHECK(WIFSIGNALED(wait_for(child)));
  ::close(ready[0]);
  ::close(ready[1]);
  CHECK(read_file(folder / "x") == "old");
  write_file(folder / "x", "next");  // the dead process's temporary file does not interfere
  CHECK(read_file(folder / "x") == "next");
}

TEST_CASE("file: a process killed at any moment leaves one whole version") {
  const test::ScratchFolder folder;
  const std::string first(200'000, 'a'), second(300'000, 'b');
  write_file(folder / "x", first);
  for (int round = 0; round < 8; ++round) {
    const auto child = start_child([&] {
      while (true) {
        write_file(folder / "x", second);
        write_file(folder / "x", first);
      }
      return 0;
    });
    ::usleep(static_cast<useconds_t>(2000 + 3000 * round));
    ::kill(child, SIGKILL);
    CHECK(WIFSIGNALED(wait_for(child)));
    const auto content = read_file(folder / "x");
    CHECK((content == first || content == second));
  }
}
