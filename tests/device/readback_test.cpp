// SPDX-License-Identifier: Apache-2.0
// Values read back later are those of the time they were asked for.
#include "ubique/device/readback.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/device.h"

using namespace ubique;

TEST_CASE("readback: the values of the last request, whatever happens to the tensor meanwhile") {
  if (test::kDevice.type() == c10::kMPS) return;  // steps that read back are not made there
  device::Readback readback;
  const auto tensor = at::zeros({3, 2}).to(test::kDevice);
  for (int round = 1; round <= 3; ++round) {
    tensor.fill_(round);
    readback.begin(tensor);
    tensor.fill_(-1);
    CHECK(at::equal(readback.wait(), at::full({3, 2}, round, at::TensorOptions(at::kFloat))));
  }
}
