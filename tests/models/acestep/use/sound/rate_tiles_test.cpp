// SPDX-License-Identifier: Apache-2.0
// Rates changed tile by tile on the device against the host's converter of the whole.
#include "ubique/models/acestep/use/sound/rate_tiles.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/device.h"
#include "tests/tensors.h"

using namespace ubique;
using test::distance, test::random_tensor;

namespace {

at::Tensor in_tiles(const at::Tensor& wave, int from, int to, std::int64_t tile) {
  acestep::RateTiles rates(from, to);
  std::vector<at::Tensor> parts;
  for (std::int64_t begin = 0; begin < wave.size(1); begin += tile) {
    const auto end = std::min(begin + tile, wave.size(1));
    parts.push_back(rates.push(wave.slice(1, begin, end), end == wave.size(1)));
  }
  return at::cat(parts, 1).cpu();
}

}  // namespace

TEST_CASE("acestep: a rate changed in tiles is the rate changed at once, at every tile") {
  for (const auto& [from, to] : {std::pair{44'100, 48'000}, {48'000, 44'100}, {44'100, 16'000}}) {
    const data::RateConverter converter(from, to);
    for (const std::int64_t length : {1, 40, 1000, 3001}) {
      const auto wave = random_tensor({2, length}, 5);
      for (const std::int64_t tile : {1, 13, 147, 700, 5000}) {
        if (length / tile > 300) continue;
        CAPTURE(from);
        CAPTURE(length);
        CAPTURE(tile);
        const auto made = in_tiles(wave.to(test::kDevice), from, to, tile);
        REQUIRE(made.size(1) == converter.length(length));
        for (std::int64_t row = 0; row < 2; ++row) {
          const auto own = wave[row].contiguous();
          const auto whole =
              converter.convert({own.const_data_ptr<float>(), static_cast<std::size_t>(length)});
          const auto expected = at::tensor(at::ArrayRef<float>(whole));
          CHECK(distance(made[row], expected) < 1e-5);
        }
      }
    }
  }
}

TEST_CASE("acestep: the right rate already: tiles pass") {
  const auto wave = random_tensor({2, 30}, 6).to(test::kDevice);
  CHECK(distance(in_tiles(wave, 44'100, 44'100, 7), wave) == 0);
}
