// SPDX-License-Identifier: Apache-2.0
#include "ubique/base/process.h"

#include <doctest/doctest.h>

using ubique::run_program;

TEST_CASE("process: a program's exit code comes back") {
  CHECK(run_program({"true"}) == 0);
  CHECK(run_program({"sh", "-c", "exit 7"}) == 7);
  CHECK(run_program({"sh", "-c", "kill -9 $$"}) == 137);
}

TEST_CASE("process: a program that is not there is nothing") {
  CHECK_FALSE(run_program({"no-program-has-this-name"}).has_value());
}
