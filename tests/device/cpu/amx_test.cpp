// SPDX-License-Identifier: Apache-2.0
// Which processors' AMX is used.
#include "ubique/device/cpu/amx.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "ubique/device/host.h"

using namespace ubique;

TEST_CASE("AMX without a description of its tiles is not used") {
  CHECK(device::is_usable({.announced = true, .palettes = 1}));
  CHECK(!device::is_usable({.announced = true, .palettes = 0}));
  CHECK(!device::is_usable({.announced = false, .palettes = 1}));
  CHECK(!device::is_usable({}));
}

TEST_CASE("AMX that cannot be used is neither listed nor left to oneDNN") {
  const auto report = device::read_amx_report();
  const auto& sets = device::host().instruction_sets;
  const bool listed = std::find(sets.begin(), sets.end(), "amx") != sets.end();
  if (!device::is_usable(report)) CHECK(!listed);
  if (report.announced && !device::is_usable(report)) {
    const char* limit = std::getenv("ONEDNN_MAX_CPU_ISA");
    REQUIRE(limit != nullptr);
    CHECK(std::string_view(limit).find("AMX") == std::string_view::npos);
  }
}
