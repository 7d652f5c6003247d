// SPDX-License-Identifier: Apache-2.0
// What the program sets before LibTorch is loaded.
#include "ubique/cli/start/environment.h"

#include <doctest/doctest.h>

using ubique::cli::start_environment;

namespace {

ubique::cli::Environment fake(std::map<std::string, std::string> variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace

TEST_CASE("start: only a Mac gets the fallback for Metal") {
  CHECK(start_environment(true, fake({})).at("PYTORCH_ENABLE_MPS_FALLBACK") == "1");
  CHECK_FALSE(start_environment(false, fake({})).contains("PYTORCH_ENABLE_MPS_FALLBACK"));
}

TEST_CASE("start: waiting threads spin briefly") {
  CHECK(start_environment(false, fake({})).contains("GOMP_SPINCOUNT"));
}

TEST_CASE("start: what the user has set is kept") {
  CHECK(start_environment(
            true, fake({{"PYTORCH_ENABLE_MPS_FALLBACK", "0"}, {"GOMP_SPINCOUNT", "infinity"}}))
            .empty());
  CHECK(start_environment(false, fake({{"OMP_WAIT_POLICY", "active"}})).empty());
}
