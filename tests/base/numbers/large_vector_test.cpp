// SPDX-License-Identifier: Apache-2.0
// Contents and sizes of large vectors.
#include "ubique/base/numbers/large_vector.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

using namespace ubique;

TEST_CASE("large_vector: zeros, of any size, and ordinary memory after that") {
  for (const std::size_t count : {0UL, 1UL, 1000UL, (1UL << 20U) + 17, (5UL << 20U) + 3}) {
    auto values = large_vector<std::uint32_t>(count);
    CHECK(values.size() == count);
    CHECK(std::all_of(values.begin(), values.end(), [](auto value) { return value == 0; }));
    std::iota(values.begin(), values.end(), 1U);
    auto copy = values;
    values.push_back(0);
    CHECK(std::equal(copy.begin(), copy.end(), values.begin()));
  }
}
