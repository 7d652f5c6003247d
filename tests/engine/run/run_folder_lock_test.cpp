// SPDX-License-Identifier: Apache-2.0
// One process at a time trains into a folder; one that is started again waits for what is left.
#include "ubique/engine/run/run_folder_lock.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "tests/base/scratch.h"
#include "ubique/base/error.h"

using namespace ubique;
using engine::RunLock;

TEST_CASE("run lock: a second training into the folder is refused at once") {
  const test::ScratchFolder scratch;
  const RunLock first(scratch.path());
  CHECK_THROWS_WITH_AS(RunLock(scratch.path()), doctest::Contains("is in use"), Error);
}

TEST_CASE("run lock: a run that is started again waits for the one before to end") {
  const test::ScratchFolder scratch;
  auto first = std::make_unique<RunLock>(scratch.path());
  ::setenv("TORCHELASTIC_RESTART_COUNT", "1", 1);
  std::thread ending([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    first.reset();
  });
  CHECK_NOTHROW(RunLock(scratch.path()));
  ending.join();
  ::unsetenv("TORCHELASTIC_RESTART_COUNT");
}
