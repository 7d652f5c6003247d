// SPDX-License-Identifier: Apache-2.0
// Log lines on stderr: levels, colour, warnings that appear once.
#include "ubique/base/terminal/log.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"

using namespace ubique;

namespace {

/// What the code writes to a descriptor (stderr or stdout).
std::string written_to(int descriptor, const std::function<void()>& code) {
  const test::ScratchFolder folder;
  const auto path = folder / "log";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int before = ::dup(descriptor);
  REQUIRE(file >= 0);
  REQUIRE(::dup2(file, descriptor) == descriptor);
  code();
  ::dup2(before, descriptor);
  ::close(before);
  ::close(file);
  return read_file(path);
}

void log_all() {
  log::debug("looked at {}", 1);
  log::info("found {}", 2);
  log::warn("odd {}", 3);
  log::error("broken {}", 4);
}

}  // namespace

TEST_CASE("log: lines are short, go to stderr and depend on the level") {
  const test::ScopedVariable plain("NO_COLOR", "1");
  log::configure(log::Level::Normal);
  CHECK(written_to(STDERR_FILENO, log_all) ==
        "ubique: found 2\nubique: warning: odd 3\nubique: error: broken 4\n");
  std::string on_stdout;
  written_to(STDERR_FILENO, [&] { on_stdout = written_to(STDOUT_FILENO, log_all); });
  CHECK(on_stdout.empty());
  log::configure(log::Level::Quiet);
  CHECK(written_to(STDERR_FILENO, log_all) == "ubique: error: broken 4\n");
  CHECK_FALSE(log::wanted(log::Severity::Warning));
  log::configure(log::Level::Verbose);
  CHECK(written_to(STDERR_FILENO, log_all).starts_with("ubique: debug: looked at 1\n"));
  log::configure(log::Level::Normal);
}

TEST_CASE("log: braces in a message that is already made are left alone") {
  CHECK(written_to(STDERR_FILENO, [] { log::write(log::Severity::Info, "{} {x"); }) ==
        "ubique: {} {x\n");
}

TEST_CASE("log: foreign text cannot control the terminal or fill the screen") {
  const auto text = written_to(STDERR_FILENO, [] {
    log::warn("no {}", "\x1b[2J\xff\xC2\x9B\r file");
    log::info("a\n\tb");
    log::error("{}", std::string(1 << 20, 'y'));
  });
  CHECK(text.starts_with("ubique: warning: no \\x1b[2J\\xff\\x9b\\x0d file\nubique: a\n\tb\n"));
  CHECK(text.size() < 20000);
}

TEST_CASE("log: a warning for one key appears once") {
  const auto text = written_to(STDERR_FILENO, [] {
    log::warn_once("log_test.a", "first");
    log::warn_once("log_test.a", "again");
    log::warn_once("log_test.b", "other");
  });
  CHECK(text == "ubique: warning: first\nubique: warning: other\n");
}

TEST_CASE("log: a note that may be given often appears once") {
  const auto text = written_to(STDERR_FILENO, [] {
    log::info_once("log_test: a device");
    log::info_once("log_test: a device");
  });
  CHECK(text == "ubique: log_test: a device\n");
}

TEST_CASE("log: colour needs a terminal, and NO_COLOR or a dumb one forbids it") {
  const test::ScopedVariable allowed("NO_COLOR", nullptr);
  const test::ScopedVariable terminal("TERM", "xterm");
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  CHECK_FALSE(log::colour_wanted(file));
  ::close(file);
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) {
    MESSAGE("skipped: this system gives no pseudo terminal");
    return;
  }
  const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
  REQUIRE(slave >= 0);
  CHECK(log::colour_wanted(slave));
  {
    const test::ScopedVariable empty("NO_COLOR", "");
    CHECK(log::colour_wanted(slave));
  }
  {
    const test::ScopedVariable refused("NO_COLOR", "1");
    CHECK_FALSE(log::colour_wanted(slave));
  }
  const test::ScopedVariable dumb("TERM", "dumb");
  CHECK_FALSE(log::colour_wanted(slave));
  ::close(slave);
  ::close(master);
}
