// SPDX-License-Identifier: Apache-2.0
// Encoding in tiles against encoding all at once.
#include "ubique/models/acestep/use/sound/encode_tiles.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/acestep/random_codec.h"
#include "ubique/models/acestep/use/sound/decode.h"

using namespace ubique;
using test::distance, test::SmallCodec;

TEST_CASE("acestep: latents encoded in tiles are the latents encoded at once, at every length") {
  const SmallCodec codec;
  const at::NoGradGuard no_gradients;
  for (const std::int64_t tile : {1, 4}) {
    for (const std::int64_t frames : {1, 2, 3, 4, 5, 9, 16, 23}) {
      CAPTURE(tile);
      CAPTURE(frames);
      const auto mel = test::random_tensor({2, 2, 16, 8 * frames}, 5).to(test::kDevice) * 4 - 4;
      const auto whole = acestep::latents_of(codec.dcae, mel);
      CHECK(whole.size(-1) == frames);
      CHECK(distance(acestep::latents_in_tiles(codec.dcae, mel, tile), whole) < 1e-5);
      CHECK(whole.std().item<double>() > 0.01);
    }
  }
}
