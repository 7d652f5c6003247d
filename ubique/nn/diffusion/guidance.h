// SPDX-License-Identifier: Apache-2.0
// Guidance: sharpening a prediction by its difference from one without the condition. Tensors are
// (B, C, H, W); everything is done in f32.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

namespace ubique::nn {

enum class GuidanceKind {
  Cfg,      ///< classifier-free guidance
  Apg,      ///< adaptive projected guidance: only what is orthogonal to the prediction
  CfgStar,  ///< the null prediction scaled to fit first, and no prediction in the first steps
};

std::string_view to_string(GuidanceKind kind);            ///< "cfg", "apg", "cfg_star"
GuidanceKind parse_guidance_kind(std::string_view text);  ///< Usage error that lists the names

/// null + scale·(cond - null).
at::Tensor cfg_guidance(const at::Tensor& cond, const at::Tensor& null, double scale);

/// The running difference of projected guidance, kept for a whole sampling.
struct ApgState {
  double momentum = -0.75;
  at::Tensor running = {};
};

struct ApgOptions {
  double largest_norm = 2.5;  ///< of the difference, per item and channel
};

/// cond + (scale - 1)·(difference without its part along cond). `state` null: without momentum.
at::Tensor apg_guidance(const at::Tensor& cond, const at::Tensor& null, double scale,
                        ApgState* state, const ApgOptions& options = {});

/// a·null + scale·(cond - a·null) with a that brings null closest to cond; zeros in steps 0 to
/// `zero_steps`.
at::Tensor cfg_star_guidance(const at::Tensor& cond, const at::Tensor& null, double scale,
                             std::int64_t step, std::int64_t zero_steps = 1);

/// Two conditions, one added to the other: (1 - outer)·null + (outer - inner)·partial + inner·cond.
at::Tensor double_guidance(const at::Tensor& cond, const at::Tensor& partial,
                           const at::Tensor& null, double outer, double inner);

/// The part of a sampling that is guided, and how strongly.
struct GuidanceWindow {
  std::int64_t first = 0, last = 0;  ///< steps first..last-1

  bool contains(std::int64_t step) const { return step >= first && step < last; }
};

/// The middle `interval` (0 to 1) of `steps`.
GuidanceWindow guidance_window(std::int64_t steps, double interval);
/// The scale in a step of the window: falls from `scale` towards `least` by `decay` (0 = constant).
double decayed_scale(const GuidanceWindow& window, std::int64_t step, double scale, double least,
                     double decay);

}  // namespace ubique::nn
