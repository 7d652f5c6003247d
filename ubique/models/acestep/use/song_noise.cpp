// SPDX-License-Identifier: Apache-2.0
// Values frame by frame, then turned to the latents' layout.
#include "ubique/models/acestep/use/song_noise.h"

#include <ATen/ATen.h>

#include "ubique/base/numbers/random.h"

namespace ubique::acestep {

at::Tensor song_noise(std::int64_t seed, NoiseUse use, std::int64_t number, std::int64_t channels,
                      std::int64_t height, std::int64_t frames) {
  auto values = at::empty({frames, channels, height}, at::TensorOptions(at::kFloat));
  const auto random = Random(static_cast<std::uint64_t>(seed))
                          .fork(static_cast<std::uint64_t>(use))
                          .fork(static_cast<std::uint64_t>(number));
  random.fill_normal({values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())});
  return values.permute({1, 2, 0}).contiguous();
}

}  // namespace ubique::acestep
