// SPDX-License-Identifier: Apache-2.0
// The loops over steps.
#include "ubique/models/acestep/use/sample.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "ubique/base/error.h"

namespace ubique::acestep {
namespace {

nn::FlowSchedule schedule_of(const SampleOptions& options, double sigma_max = 1) {
  const nn::FlowGrid grid{.shift = options.shift, .sigma_max = sigma_max};
  return options.chosen_steps.empty()
             ? nn::flow_schedule(options.solver, options.steps, grid)
             : nn::chosen_steps(options.solver, options.chosen_steps, grid);
}

/// Steps that the guidance window is measured in: Heun's second predictions do not count.
std::int64_t guided_steps(const SampleOptions& options) {
  return options.chosen_steps.empty() ? options.steps
                                      : static_cast<std::int64_t>(options.chosen_steps.size());
}

at::Tensor run_sampler(const Dit& dit, const SongContexts& contexts, const at::Tensor& start,
                       nn::FlowSchedule schedule, const SampleOptions& options,
                       const SampleHooks& hooks) {
  GuidedVelocity velocity(dit, contexts, options.guidance, options.weak, guided_steps(options),
                          options.recorder);
  nn::FlowSampler sampler(
      std::move(schedule),
      {.solver = options.solver, .omega = options.omega, .batch_mean = options.batch_mean});
  check(!sampler.needs_noise() || hooks.noise, ErrorKind::Internal,
        "[acestep.sample] this solver needs noise for each step.");
  auto x = start.to(at::kFloat);
  for (std::size_t i = 0; i < sampler.predictions(); ++i) {
    const auto t = sampler.schedule().timesteps[i];
    const auto v = velocity.at_step(x, t, static_cast<std::int64_t>(i));
    x = sampler.step(i, x, v, sampler.needs_noise() ? hooks.noise(i) : at::Tensor());
    if (hooks.after_step) hooks.after_step(i, sampler.predictions(), x);
  }
  return x;
}

void check_share(double value, const char* what) {
  check(value >= 0 && value <= 1, ErrorKind::Usage,
        "[acestep.sample] {} is out of range; got {}, expected 0 to 1.", what, value);
}

}  // namespace

std::int64_t frames_of(double seconds) {
  return static_cast<std::int64_t>(seconds * kLatentSampleRate /
                                   static_cast<double>(kSamplesPerFrame));
}

at::Tensor mixed_noise(const at::Tensor& first, const at::Tensor& second, double variance) {
  check_share(variance, "the variance");
  const auto angle = variance * std::numbers::pi / 2;
  return first * std::cos(angle) + second * std::sin(angle);
}

at::Tensor sample_latents(const Dit& dit, const SongContexts& contexts, const at::Tensor& noise,
                          const SampleOptions& options, const SampleHooks& hooks) {
  return run_sampler(dit, contexts, noise, schedule_of(options), options, hooks);
}

at::Tensor sample_near(const Dit& dit, const SongContexts& contexts, const at::Tensor& reference,
                       const at::Tensor& noise, double strength, const SampleOptions& options,
                       const SampleHooks& hooks) {
  check(strength >= 0 && strength < 1, ErrorKind::Usage,
        "[acestep.sample] the reference's strength is out of range; got {}, expected 0 to below 1.",
        strength);
  const auto level = 1 - strength;
  auto fewer = options;
  fewer.steps = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(level * static_cast<double>(options.steps)));
  auto schedule = schedule_of(fewer, level);
  const double first = schedule.sigmas.front();
  const auto mixed = options.near_shift ? nn::shifted_sigma(level, options.shift) : first;
  const auto start = reference * (1 - mixed) + noise * mixed;
  return run_sampler(dit, contexts, start, std::move(schedule), fewer, hooks);
}

RepaintTask repaint_task(const at::Tensor& source, const at::Tensor& noise,
                         const at::Tensor& retake, std::int64_t first, std::int64_t last,
                         double variance) {
  const auto frames = source.size(-1);
  check(first >= 0 && first < last && last <= frames, ErrorKind::Usage,
        "[acestep.repaint] frames {} to {} are no part of {} frames; expected a window inside of "
        "the clip.",
        first, last, frames);
  const auto mask = at::zeros({frames}, source.options().dtype(at::kBool));
  mask.slice(0, first, last).fill_(true);
  const auto inside = mixed_noise(noise, retake, variance);
  return {.source = source,
          .noise = at::where(mask, inside, noise),
          .mask = mask,
          .variance = variance};
}

RepaintTask extend_task(const at::Tensor& source, const at::Tensor& noise, const at::Tensor& retake,
                        std::int64_t left, std::int64_t right, double variance) {
  const auto frames = source.size(-1), total = left + frames + right;
  check(left >= 0 && right >= 0 && left + right > 0, ErrorKind::Usage,
        "[acestep.extend] got {} frames before and {} after, expected some to add.", left, right);
  check(left <= frames && right <= frames && total <= kMostFrames, ErrorKind::Usage,
        "[acestep.extend] a clip of {} frames gets {} before and {} after; expected at most as "
        "many on each side as it has, and {} in all. Extend it in several steps.",
        frames, left, right, kMostFrames);
  const auto mask = at::ones({total}, source.options().dtype(at::kBool));
  mask.slice(0, left, left + frames).fill_(false);
  const auto before = retake.slice(-1, 0, left), after = retake.slice(-1, frames - right, frames);
  return {.source = at::constant_pad_nd(source, {left, right}),
          .noise = at::cat({before, noise, after}, -1),
          .mask = mask,
          .variance = variance};
}

at::Tensor sample_repaint(const Dit& dit, const SongContexts& contexts, const RepaintTask& task,
                          const SampleOptions& options, const SampleHooks& hooks) {
  check_share(task.variance, "the variance");
  const nn::FlowGrid grid{.shift = options.shift};
  const auto schedule = nn::flow_schedule(nn::FlowSolver::Euler, options.steps, grid);
  GuidedVelocity velocity(dit, contexts, options.guidance, options.weak, options.steps,
                          options.recorder);
  const auto skipped =
      static_cast<std::size_t>(static_cast<double>(options.steps) * (1 - task.variance));
  const auto source_at = [&](float sigma) {
    return task.source * (1 - sigma) + task.noise * sigma;
  };
  if (skipped >= schedule.timesteps.size()) return task.source;
  auto x = source_at(schedule.sigmas[skipped]).to(at::kFloat);
  for (auto i = skipped; i < schedule.timesteps.size(); ++i) {
    const auto v = velocity.at_step(x, schedule.timesteps[i], static_cast<std::int64_t>(i));
    const auto next = schedule.sigmas[i + 1];
    x = at::where(task.mask, x + v * (next - schedule.sigmas[i]), source_at(next));
    if (hooks.after_step) hooks.after_step(i, schedule.timesteps.size(), x);
  }
  return x;
}

}  // namespace ubique::acestep
