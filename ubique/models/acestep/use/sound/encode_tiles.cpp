// SPDX-License-Identifier: Apache-2.0
// The encoder's fine levels run once, tile by tile; its attention, at the latents' resolution, then
// reads their result as often as it has blocks.
#include "ubique/models/acestep/use/sound/encode_tiles.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/models/acestep/use/sound/decode.h"

namespace ubique::acestep {

at::Tensor latents_in_tiles(const Dcae& dcae, const at::Tensor& log_mel, std::int64_t tile) {
  auto steps = dcae.encoder_steps();
  const auto split = std::ranges::find_if(
      steps, [](const LocalStep& step) { return static_cast<bool>(step.sum); });
  const LocalSteps late(split, steps.end());
  steps.erase(split, steps.end());
  const auto options = dcae.weights().encoder.input.weight.options();
  const auto columns = tile * dcae.columns_per_latent();
  const TiledRun fine(steps, log_mel.size(-1), columns);
  auto x = fine.run_all(network_log_mel(log_mel).to(options));
  if (!late.empty()) {
    TiledRun coarse(late, x.size(-1), columns * x.size(-1) / log_mel.size(-1));
    coarse.gather(x);
    x = coarse.run_all(x);
  }
  return scaled_latents(x.to(at::kFloat));
}

}  // namespace ubique::acestep
