// SPDX-License-Identifier: Apache-2.0
// The noise that songs are made from: counter-based on the host, so that a seed gives the same song
// on every device and in every batch. Each use of a seed has a stream of its own.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace ubique::acestep {

enum class NoiseUse : std::uint64_t {
  Start = 1,   ///< what text2music begins with
  Retake = 2,  ///< what another take mixes in
  Edit = 3,    ///< number k: of each difference of an edit
  Step = 4,    ///< number i: fresh noise of PingPong's step i
};

/// (channels, height, frames), f32 on the host. The first frames do not depend on how many follow.
at::Tensor song_noise(std::int64_t seed, NoiseUse use, std::int64_t number, std::int64_t channels,
                      std::int64_t height, std::int64_t frames);

/// Noise (items, channels, height, frames) for variations first..first+items-1.
struct NoiseRequest {
  NoiseUse use;
  std::int64_t number, first, items, frames;
};
using NoiseSource = std::function<at::Tensor(const NoiseRequest&)>;

}  // namespace ubique::acestep
