// SPDX-License-Identifier: Apache-2.0
// A small git repository, made by the git program, with fixed names and dates.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/base/files/process.h"

namespace ubique::test {

class GitSample {
 public:
  GitSample() {
    make_folder(path());
    git({"init", "-q", "-b", "main"});
  }

  std::filesystem::path path() const { return scratch_ / "project"; }
  std::filesystem::path beside(const std::string& name) const { return scratch_ / name; }
  void git(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = {"env",
                                        "GIT_CONFIG_GLOBAL=/dev/null",
                                        "GIT_CONFIG_NOSYSTEM=1",
                                        "GIT_AUTHOR_NAME=Ada",
                                        "GIT_AUTHOR_EMAIL=ada@example.org",
                                        "GIT_COMMITTER_NAME=Ada",
                                        "GIT_COMMITTER_EMAIL=ada@example.org",
                                        "GIT_AUTHOR_DATE=" + std::to_string(time_) + " +0000",
                                        "GIT_COMMITTER_DATE=" + std::to_string(time_) + " +0000",
                                        "git",
                                        "-C",
                                        path().string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    REQUIRE(run_program(command) == 0);
  }
  void write(const std::string& name, const std::string& content) const {
    const auto file = path() / name;
    make_folder(file.parent_path());
    write_file(file, content);
  }
  void commit(const std::string& message) {
    time_ += 5400;
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", message});
  }

 private:
  ScratchFolder scratch_;
  long time_ = 1700000000;
};

inline bool has_git() {
  if (find_program("git")) return true;
  MESSAGE("skipped: no git program");
  return false;
}

}  // namespace ubique::test
