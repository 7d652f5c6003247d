// SPDX-License-Identifier: Apache-2.0
// Bytes as base64 text, and back.
#include "ubique/base/text/base64.h"

#include <doctest/doctest.h>

using namespace ubique;

TEST_CASE("base64: the examples of RFC 4648, both ways") {
  const std::pair<const char*, const char*> examples[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : examples) {
    CHECK(base64(bytes) == text);
    CHECK(from_base64(text) == bytes);
  }
}

TEST_CASE("base64: every byte comes back, other letters and lengths do not") {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  CHECK(from_base64(base64(bytes)) == bytes);
  for (const char* wrong : {"Zg=", "Z", "Zg==Zg==", "Z*==", "====", "Zm9v\n"}) {
    CHECK_FALSE(from_base64(wrong).has_value());
  }
}
