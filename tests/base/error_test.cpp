// SPDX-License-Identifier: Apache-2.0
// Error kinds, exit codes and messages.
#include "ubique/base/error.h"

#include <doctest/doctest.h>

#include "scratch.h"

using namespace ubique;

TEST_CASE("error: every kind has its own exit code and name") {
  CHECK(static_cast<int>(exit_code(ErrorKind::Internal)) == 1);
  CHECK(static_cast<int>(exit_code(ErrorKind::Usage)) == 2);
  CHECK(static_cast<int>(exit_code(ErrorKind::Input)) == 3);
  CHECK(static_cast<int>(exit_code(ErrorKind::Device)) == 4);
  CHECK(static_cast<int>(exit_code(ErrorKind::Parity)) == 5);
  CHECK(to_string(ErrorKind::Internal) == "internal");
  CHECK(to_string(ErrorKind::Usage) == "usage");
  CHECK(to_string(ErrorKind::Input) == "input");
  CHECK(to_string(ErrorKind::Device) == "device");
  CHECK(to_string(ErrorKind::Parity) == "parity");
}

TEST_CASE("error: fail formats its message and check throws only when it must") {
  CHECK(test::error_of([] { fail(ErrorKind::Input, "[a.b] got {}, expected {}", 1, "x"); }) ==
        "input: [a.b] got 1, expected x");
  CHECK(test::error_of([] { check(true, ErrorKind::Usage, "[a.b] no"); }) == "no error");
  CHECK(test::error_of([] { check(false, ErrorKind::Device, "[a.b] no {}", 2); }) ==
        "device: [a.b] no 2");
}
