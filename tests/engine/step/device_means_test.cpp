// SPDX-License-Identifier: Apache-2.0
// Ratios that are summed on the device.
#include "ubique/engine/step/device_means.h"

#include <ATen/ATen.h>

#include "tests/engine/toy.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

TEST_CASE("ratios: means are over all updates since the last clear; a count of 0 is omitted") {
  const auto device = kDevice;
  const auto scalar = [&](float value) { return at::full({}, value).to(device); };
  RatioSums sums;
  CHECK(sums.scalars().empty());
  const auto read = [&] {
    std::vector<double> values;
    for (const auto& value : sums.scalars()) values.push_back(value.item<double>());
    return sums.means(values);
  };
  sums.add({{"right", scalar(3), scalar(4)}, {"never", scalar(0), scalar(0)}});
  sums.add({{"right", scalar(0), scalar(2)}, {"never", scalar(0), scalar(0)}});
  CHECK(read() == Scores{{"right", 0.5}});
  sums.clear();
  CHECK(read().empty());
  sums.add({{"right", scalar(1), scalar(1)}, {"never", scalar(2), scalar(1)}});
  CHECK(read() == Scores{{"right", 1}, {"never", 2}});
}
