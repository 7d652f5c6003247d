// SPDX-License-Identifier: Apache-2.0
// Known answers of XXH64.
#include "ubique/base/files/digest.h"

#include <doctest/doctest.h>

using namespace ubique;

TEST_CASE("digest: XXH64 of known texts") {
  CHECK(digest_of("") == "ef46db3751d8e999");
  CHECK(digest_of("a") == "d24ec4f1a98c6e5b");
  CHECK(digest_of("abc") == "44bc2cf5ad770999");
  CHECK(digest_of("message digest") == "066ed728fceeb3be");
  CHECK(digest_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") ==
        "aaa46907d3047814");
  std::string long_text;
  for (int i = 0; i < 768; ++i) long_text += static_cast<char>(i);
  CHECK(digest_of(long_text + "12345") == "ae0a5bd1b9a11ab8");
}
