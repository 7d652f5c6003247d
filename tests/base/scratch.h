// SPDX-License-Identifier: Apache-2.0
// Test helpers: a temporary folder, a scoped environment variable, and the error that a piece of
// code throws.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "ubique/base/error.h"

namespace ubique::test {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ubique-test-XXXXXX").string();
    check(::mkdtemp(name.data()) != nullptr, ErrorKind::Internal, "[test.scratch] no folder");
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::size_t count() const {
    const std::filesystem::directory_iterator begin(path_), end;
    return static_cast<std::size_t>(std::distance(begin, end));
  }

 private:
  std::filesystem::path path_;
};

class ScopedVariable {
 public:
  /// nullptr unsets the variable.
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~ScopedVariable() {
    old_ ? ::setenv(name_.c_str(), old_->c_str(), 1) : ::unsetenv(name_.c_str());
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> old_;
};

/// "usage: MESSAGE" of the Error that the code throws, or "no error".
template <typename Code>
std::string error_of(const Code& code) {
  try {
    code();
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
  return "no error";
}

/// The message of the Error of that kind that the code must throw; fails the test otherwise.
template <typename Code>
std::string refusal_of(ErrorKind kind, const Code& code) {
  try {
    code();
  } catch (const Error& error) {
    CHECK(to_string(error.kind()) == to_string(kind));
    return error.what();
  }
  FAIL("no error, expected one of kind " << std::string(to_string(kind)));
  return {};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace ubique::test
