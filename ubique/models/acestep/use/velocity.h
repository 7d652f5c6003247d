// SPDX-License-Identifier: Apache-2.0
// The guided velocity of noisy latents: all branches of guidance in one batch.
#pragma once

#include "ubique/models/acestep/net/pass_recorder.h"
#include "ubique/models/acestep/use/condition.h"
#include "ubique/nn/diffusion/guidance.h"

namespace ubique::acestep {

struct GuidanceOptions {
  nn::GuidanceKind kind = nn::GuidanceKind::Apg;
  double scale = 15;      ///< 0 or 1: no guidance
  double interval = 0.5;  ///< share of the steps, in the middle, that are guided
  double decay = 0;       ///< how far the scale falls towards `least_scale` meanwhile
  double least_scale = 3;
  double text_scale = 0, lyric_scale = 0;  ///< both above 1: text and lyrics are guided apart

  bool is_on() const { return scale != 0 && scale != 1; }
  bool is_double() const { return is_on() && text_scale > 1 && lyric_scale > 1; }
};

class GuidedVelocity {
 public:
  /// `steps` is the number of sampling steps. The transformer must outlive this, and so must the
  /// recorder; null = kernels are launched one by one.
  GuidedVelocity(const Dit& dit, const SongContexts& contexts, const GuidanceOptions& options,
                 const WeakBranch& weak, std::int64_t steps, PassRecorder* recorder = nullptr);

  /// Of latents (B, C, 16, T) at a timestep, in step i. Steps in the window are guided.
  at::Tensor at_step(const at::Tensor& latents, double timestep, std::int64_t step);
  /// With the given scale whatever the step; `with_momentum` for APG's running difference.
  at::Tensor guided(const at::Tensor& latents, double timestep, std::int64_t step, double scale,
                    bool with_momentum = true);

 private:
  at::Tensor predict(const at::Tensor& latents, double timestep, const DitContext& context,
                     const DitOptions& options) const;

  const Dit& dit_;
  PassRecorder* recorder_;
  GuidanceOptions options_;
  DitContext cond_, branches_;
  DitOptions branch_options_;
  std::int64_t branch_count_ = 1;
  nn::GuidanceWindow window_;
  nn::ApgState state_;
};

}  // namespace ubique::acestep
