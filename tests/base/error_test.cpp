// SPDX-License-Identifier: Apache-2.0
// Error kinds, exit codes and messages.
#include "ubique/base/error.h"

#include <doctest/doctest.h>

#include "scratch.h"
#include "ubique/base/text/utf8.h"

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

TEST_CASE("error: of a message with 20 MB of a file the start and the end are kept") {
  const std::string row(20 << 20, 'y');
  const auto text = test::error_of(
      [&] { fail(ErrorKind::Input, "[a.b] bad row; got '{}', expected numbers. Mend it.", row); });
  CHECK(text.size() < 5000);
  CHECK(text.starts_with("input: [a.b] bad row; got 'yyy"));
  CHECK(test::contains(text, "bytes left out"));
  CHECK(text.ends_with("yyy', expected numbers. Mend it."));
}

TEST_CASE("error: a long message is not cut inside a character") {
  for (std::size_t shift = 0; shift < 3; ++shift) {
    std::string message(shift, 'a');
    for (int i = 0; i < 2000; ++i) message += "€";
    CHECK(is_utf8(Error(ErrorKind::Input, message).what()));
  }
}

TEST_CASE("error: fail formats its message and check throws only when it must") {
  CHECK(test::error_of([] { fail(ErrorKind::Input, "[a.b] got {}, expected {}", 1, "x"); }) ==
        "input: [a.b] got 1, expected x");
  CHECK(test::error_of([] { check(true, ErrorKind::Usage, "[a.b] no"); }) == "no error");
  CHECK(test::error_of([] { check(false, ErrorKind::Device, "[a.b] no {}", 2); }) ==
        "device: [a.b] no 2");
}
