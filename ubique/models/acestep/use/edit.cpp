// SPDX-License-Identifier: Apache-2.0
// The difference of two guided velocities, followed over the steps.
#include "ubique/models/acestep/use/edit.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"

namespace ubique::acestep {
namespace {

void check_edit(const EditOptions& edit) {
  check(edit.begin >= 0 && edit.begin <= edit.end && edit.end <= 1, ErrorKind::Usage,
        "[acestep.edit] the edited part of the steps is {} to {}, expected 0 to 1, ascending.",
        edit.begin, edit.end);
  check(edit.averaged >= 1, ErrorKind::Usage,
        "[acestep.edit] {} noises are averaged, expected 1 or more.", edit.averaged);
}

}  // namespace

at::Tensor edit_latents(const Dit& dit, const SongContexts& source_contexts,
                        const SongContexts& target_contexts, const at::Tensor& source,
                        const EditOptions& edit, const SampleOptions& options,
                        const NextNoise& next_noise, const SampleHooks& hooks) {
  check_edit(edit);
  const nn::FlowGrid grid{.shift = options.shift};
  const auto schedule = nn::flow_schedule(nn::FlowSolver::Euler, options.steps, grid);
  GuidedVelocity from(dit, source_contexts, options.guidance, options.weak, options.steps,
                      options.recorder);
  GuidedVelocity to(dit, target_contexts, options.guidance, options.weak, options.steps,
                    options.recorder);
  const auto scale = options.guidance.scale;
  const auto count = static_cast<double>(options.steps);
  const auto begin = static_cast<std::size_t>(count * edit.begin);
  const auto end = static_cast<std::size_t>(count * edit.end);
  auto x = source.to(at::kFloat);
  for (auto i = begin; i < schedule.timesteps.size(); ++i) {
    const auto now = schedule.sigmas[i], change = schedule.sigmas[i + 1] - now;
    const auto t = schedule.timesteps[i];
    const auto step = static_cast<std::int64_t>(i);
    if (i < end) {
      auto sum = at::zeros_like(x);
      for (std::int64_t k = 0; k < edit.averaged; ++k) {
        const auto noisy = source * (1 - now) + next_noise() * now;
        const auto before = from.guided(noisy, t, step, scale);
        // While the difference is followed, the original keeps momentum for the source alone.
        sum = sum + (to.guided(x + noisy - source, t, step, scale, false) - before);
      }
      x = x + sum * (change / static_cast<double>(edit.averaged));
    } else {
      if (i == end) x = x + (next_noise() - source) * now;
      x = x + to.guided(x, t, step, scale) * change;
    }
    if (hooks.after_step) hooks.after_step(i, schedule.timesteps.size(), x);
  }
  return x;
}

}  // namespace ubique::acestep
