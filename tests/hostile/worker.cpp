// SPDX-License-Identifier: Apache-2.0
// Runs whole commands in one process, one after the other, for hostile.py: a line of JSON in
// (`{"args": [...], "folder": "...", "output": "..."}` or `{"digest": "FILE"}`), one line out with
// exit code, milliseconds and how far memory rose above where it stood.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"

extern "C" int ubique_main(int argc, char** argv);

namespace {

using ubique::Json;

/// A field of /proc/self/status in bytes.
long long status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stoll(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}

/// From here on VmHWM is the highest resident size since this call.
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// What is written to `descriptor` goes to `file` until the end of the scope.
class Redirected {
 public:
  Redirected(int descriptor, const std::string& file)
      : descriptor_(descriptor), saved_(::dup(descriptor)) {
    const int target = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(target, descriptor_);
    ::close(target);
  }
  ~Redirected() {
    ::dup2(saved_, descriptor_);
    ::close(saved_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int descriptor_, saved_;
};

int run_command(std::vector<std::string> words, const std::string& output) {
  words.insert(words.begin(), "ubique");
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const Redirected out(STDOUT_FILENO, output + ".out"), err(STDERR_FILENO, output + ".err");
  const int code = ubique_main(static_cast<int>(words.size()), pointers.data());
  std::fflush(stdout);
  std::fflush(stderr);
  return code;
}

Json run_one(const Json& request) {
  std::filesystem::current_path(request.at("folder").get<std::string>());
  reset_peak();
  const auto before = status_bytes("VmRSS");
  const auto start = std::chrono::steady_clock::now();
  const int code = run_command(request.at("args"), request.at("output"));
  const auto took = std::chrono::steady_clock::now() - start;
  return {{"exit", code},
          {"ms", std::chrono::duration_cast<std::chrono::milliseconds>(took).count()},
          {"rise", status_bytes("VmHWM") - before}};
}

Json answer(const Json& request) {
  if (!request.contains("digest")) return run_one(request);
  try {
    const ubique::MappedFile file(request.at("digest").get<std::string>());
    return {{"digest", ubique::digest_of(file.bytes())}};
  } catch (const ubique::Error& error) {
    return {{"error", error.what()}};  // a name in a changed manifest that is no file
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(Json::parse(line)).dump() << std::endl;
  }
}
