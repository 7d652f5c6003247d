// SPDX-License-Identifier: Apache-2.0
// Running programs, pipes to and from them, and streams.
#include "ubique/base/files/process.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/base/files/stream.h"

namespace ubique {
namespace {

std::string all_of(PipedProgram& program) {
  std::string text(1000, '\0');
  text.resize(read_fully(program.descriptor(), std::as_writable_bytes(std::span(text)), "it"));
  return text;
}

void send(PipedProgram& program, std::string_view text) {
  write_fully(program.descriptor(), std::as_bytes(std::span(text)), "the program");
}

}  // namespace

TEST_CASE("process: a program's exit code comes back") {
  CHECK(run_program({"true"}) == 0);
  CHECK(run_program({"sh", "-c", "exit 7"}) == 7);
  CHECK(run_program({"sh", "-c", "kill -9 $$"}) == 137);
}

TEST_CASE("process: a program that does not exist gives no exit code") {
  CHECK_FALSE(run_program({"no-program-has-this-name"}).has_value());
  CHECK_FALSE(find_program("no-program-has-this-name").has_value());
}

TEST_CASE("process: PATH finds programs, and only those that may be run") {
  const test::ScratchFolder folder;
  write_file(folder / "tool", "#!/bin/sh\n");
  const test::ScopedVariable path("PATH", ("/nowhere:" + folder.path().string()).c_str());
  CHECK_FALSE(find_program("tool").has_value());
  std::filesystem::permissions(folder / "tool", std::filesystem::perms::owner_all);
  CHECK(find_program("tool") == folder / "tool");
}

TEST_CASE("process: the output of a piped program is read, with its exit code and stderr") {
  PipedProgram program({"sh", "-c", "echo here; echo 'too bad' >&2; cat; exit 3"}, PipeEnd::Read);
  CHECK(all_of(program) == "here\n");  // its input is empty
  CHECK(program.finish() == 3);
  CHECK(program.stderr_tail() == "too bad");
}

TEST_CASE("process: what is written reaches a piped program") {
  const test::ScratchFolder folder;
  const auto path = folder / "out";
  PipedProgram program({"sh", "-c", "cat > '" + path.string() + "'"}, PipeEnd::Write);
  send(program, "one ");
  send(program, "two");
  CHECK(program.finish() == 0);
  CHECK(read_file(path) == "one two");
}

TEST_CASE("process: a program that closes its input is an error and does not kill us") {
  PipedProgram program({"sh", "-c", "exec <&-; echo gone >&2"}, PipeEnd::Write);
  const std::string much(1 << 20, 'x');
  const auto message = test::refusal_of(ErrorKind::Input, [&] { send(program, much); });
  CHECK(test::contains(message, "nobody reads it any more"));
  CHECK(program.finish() == 0);
  CHECK(program.stderr_tail() == "gone");
}

TEST_CASE("process: the destructor terminates a running program") {
  const test::ScratchFolder folder;
  {
    PipedProgram program({"sh", "-c", "echo $$; exec sleep 600"}, PipeEnd::Read);
    std::string line(2, '\0');
    CHECK(read_fully(program.descriptor(), std::as_writable_bytes(std::span(line)), "it") == 2);
  }  // waits for it: the test would last 600 s
  CHECK(test::contains(
      test::error_of([] { PipedProgram({"no-program-has-this-name"}, PipeEnd::Write).finish(); }),
      "no-program-has-this-name"));
}

TEST_CASE("stream: a file is read to its end, and a missing one is named") {
  const test::ScratchFolder folder;
  write_file(folder / "a", "12345");
  const InputStream stream(folder / "a");
  std::string text(8, '.');
  const auto bytes = std::as_writable_bytes(std::span(text));
  CHECK(read_fully(stream.descriptor(), bytes.first(2), "a") == 2);
  CHECK(read_fully(stream.descriptor(), bytes.subspan(2), "a") == 3);
  CHECK(text == "12345...");
  CHECK(test::contains(test::error_of([&] { InputStream(folder / "b"); }), "/b; No such file"));
  const InputStream directory(folder.path());
  CHECK(test::contains(test::error_of([&] { read_fully(directory.descriptor(), bytes, "it"); }),
                       "cannot read it"));
}

}  // namespace ubique
