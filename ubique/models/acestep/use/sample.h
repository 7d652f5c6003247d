// SPDX-License-Identifier: Apache-2.0
// Sampling latents: from noise, near a reference, and inside a window of existing latents.
#pragma once

#include <functional>
#include <vector>

#include "ubique/models/acestep/use/velocity.h"
#include "ubique/nn/diffusion/flow_sampler.h"

namespace ubique::acestep {

inline constexpr std::int64_t kSamplesPerFrame = 4096;  ///< of a latent, at 44.1 kHz
inline constexpr double kLatentSampleRate = 44100;
inline constexpr std::int64_t kMostFrames = 2583;  ///< 240 seconds

/// Latent frames of a time, rounded towards zero.
std::int64_t frames_of(double seconds);

struct SampleOptions {
  nn::FlowSolver solver = nn::FlowSolver::Euler;
  std::int64_t steps = 60;
  std::vector<std::int64_t> chosen_steps = {};  ///< of a schedule, instead of `steps`; from 1
  double shift = 3, omega = 10;
  GuidanceOptions guidance = {};
  WeakBranch weak = {};
  bool batch_mean = false;  ///< omega acts on the mean of the batch, as in the original
  bool near_shift = false;  ///< sample_near() mixes in less noise than its first step expects, as
                            ///< the original does
  PassRecorder* recorder = nullptr;  ///< see GuidedVelocity
};

/// Fresh noise of the latents' shape for step i (PingPong only).
using NoiseOfStep = std::function<at::Tensor(std::size_t step)>;
/// Called with the latents after each prediction; throwing stops the sampling.
using OnStep = std::function<void(std::size_t step, std::size_t steps, const at::Tensor& latents)>;

struct SampleHooks {
  NoiseOfStep noise = {};
  OnStep after_step = {};
};

/// Two noises at an angle: variance 0 is the first, 1 the second, each between is noise again.
at::Tensor mixed_noise(const at::Tensor& first, const at::Tensor& second, double variance);

/// Latents from noise (B, C, 16, T).
at::Tensor sample_latents(const Dit& dit, const SongContexts& contexts, const at::Tensor& noise,
                          const SampleOptions& options, const SampleHooks& hooks = {});

/// Latents near a reference: strength 1 is the reference, 0 ignores it.
at::Tensor sample_near(const Dit& dit, const SongContexts& contexts, const at::Tensor& reference,
                       const at::Tensor& noise, double strength, const SampleOptions& options,
                       const SampleHooks& hooks = {});

/// What is made anew in existing latents.
struct RepaintTask {
  at::Tensor source;    ///< (B, C, 16, T); padded with zeros where the song is extended
  at::Tensor noise;     ///< of the same shape
  at::Tensor mask;      ///< (T) bool, true = made anew
  double variance = 1;  ///< share of the steps that are taken
};

/// Frames first..last-1 anew: their noise is mixed with `retake` by `variance`. Usage error for a
/// window that is empty or outside of the latents.
RepaintTask repaint_task(const at::Tensor& source, const at::Tensor& noise,
                         const at::Tensor& retake, std::int64_t first, std::int64_t last,
                         double variance);
/// New frames before and after: their noise is that of `retake`. At most as many on each side as
/// the source has, and kMostFrames in all: else a Usage error.
RepaintTask extend_task(const at::Tensor& source, const at::Tensor& noise, const at::Tensor& retake,
                        std::int64_t left, std::int64_t right, double variance);

/// Latents that equal the source outside of the task's mask. Euler steps, no omega.
at::Tensor sample_repaint(const Dit& dit, const SongContexts& contexts, const RepaintTask& task,
                          const SampleOptions& options, const SampleHooks& hooks = {});

}  // namespace ubique::acestep
