// SPDX-License-Identifier: Apache-2.0
// Output paths: checked before the work starts.
#include "ubique/base/files/output_path.h"

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"

using namespace ubique;
namespace fs = std::filesystem;

TEST_CASE("output: its folder is made before the work, and nothing else is left there") {
  const test::ScratchFolder scratch;
  check_output_file(scratch / "a/b/solved.json");
  CHECK(fs::is_directory(scratch / "a/b"));
  CHECK(fs::is_empty(scratch / "a/b"));
  write_file(scratch / "a/b/solved.json", "old");
  check_output_file(scratch / "a/b/solved.json");
  CHECK(read_file(scratch / "a/b/solved.json") == "old");
  check_output_file({});
}

TEST_CASE("output: a path that cannot be written is refused before the work") {
  const test::ScratchFolder scratch;
  write_file(scratch / "file", "x");
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { check_output_file(scratch / "file/x.json"); }),
      "cannot make the folder"));
  CHECK(
      test::contains(test::refusal_of(ErrorKind::Input, [&] { check_output_file(scratch.path()); }),
                     "it is a folder"));
}

TEST_CASE("output: a folder for results is tried without making it") {
  const test::ScratchFolder scratch;
  write_file(scratch / "file", "x");
  check_output_folder(scratch / "a/b");
  check_output_folder(scratch.path());
  CHECK(!fs::exists(scratch / "a"));
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { check_output_folder(scratch / "file"); }),
      "cannot make the folder"));
}
