// SPDX-License-Identifier: Apache-2.0
// The restart on macOS and its loop guard.
#include "ubique/device/startup.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

using namespace ubique::device;

namespace {

Environment fake(std::map<std::string, std::string> variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace

TEST_CASE("start-up: macOS restarts once with the Metal fallback on") {
  const auto variables = restart_environment("Darwin", fake({}));
  CHECK(variables.at("PYTORCH_ENABLE_MPS_FALLBACK") == "1");
  CHECK(restart_environment("Darwin", fake(variables)).empty());  // the loop guard
}

TEST_CASE("start-up: the user's own choice about the fallback is kept") {
  CHECK(restart_environment("Darwin", fake({{"PYTORCH_ENABLE_MPS_FALLBACK", "0"}})).empty());
}

TEST_CASE("start-up: Linux never restarts") {
  CHECK(restart_environment("Linux", fake({})).empty());
}

TEST_CASE("start-up: restarting runs the same program with the variables set") {
  if (std::getenv("UBIQUE_RESTART_TEST") != nullptr) _exit(42);  // this is the restarted process
  const pid_t child = fork();
  if (child == 0) {
    const char* arguments[] = {"test_device", "-tc=start-up: restarting runs*", nullptr};
    restart_process(const_cast<char**>(arguments), {{"UBIQUE_RESTART_TEST", "1"}});
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
}
