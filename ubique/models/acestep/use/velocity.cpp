// SPDX-License-Identifier: Apache-2.0
// One pass for all branches, then their combination.
#include "ubique/models/acestep/use/velocity.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"

namespace ubique::acestep {

GuidedVelocity::GuidedVelocity(const Dit& dit, const SongContexts& contexts,
                               const GuidanceOptions& options, const WeakBranch& weak,
                               std::int64_t steps, PassRecorder* recorder)
    : dit_(dit), recorder_(recorder), options_(options), cond_(contexts.cond) {
  if (recorder_ != nullptr) recorder_->prepare(dit_);
  window_ = nn::guidance_window(steps, options.interval);
  if (!options.is_on()) return;
  branches_ = contexts.cond;
  if (options.is_double()) {
    check(contexts.text_only.has_value(), ErrorKind::Internal,
          "[acestep.guidance] double guidance needs a text-only context.");
    branches_ = joined(branches_, *contexts.text_only);
    ++branch_count_;
  }
  branches_ = joined(branches_, contexts.null);
  ++branch_count_;
  if (weak.diffusion) {
    const auto items = contexts.cond.tokens.size(0);
    branch_options_.weakened = weak.blocks;
    branch_options_.query_scale = at::ones({branch_count_ * items}, cond_.mask.options());
    branch_options_.query_scale.slice(0, (branch_count_ - 1) * items).fill_(kWeakQuery);
  }
}

at::Tensor GuidedVelocity::predict(const at::Tensor& latents, double timestep,
                                   const DitContext& context, const DitOptions& options) const {
  return recorder_ == nullptr ? plain_velocity(dit_, latents, timestep, context, options)
                              : recorder_->velocity(dit_, latents, timestep, context, options);
}

at::Tensor GuidedVelocity::guided(const at::Tensor& latents, double timestep, std::int64_t step,
                                  double scale, bool with_momentum) {
  if (!options_.is_on()) return predict(latents, timestep, cond_, {});
  const auto all = latents.repeat({branch_count_, 1, 1, 1});
  const auto parts = predict(all, timestep, branches_, branch_options_).chunk(branch_count_, 0);
  const auto &cond = parts.front(), &null = parts.back();
  if (options_.is_double()) {
    return nn::double_guidance(cond, parts[1], null, options_.text_scale, options_.lyric_scale);
  }
  switch (options_.kind) {
    case nn::GuidanceKind::Cfg:
      return nn::cfg_guidance(cond, null, scale);
    case nn::GuidanceKind::CfgStar:
      return nn::cfg_star_guidance(cond, null, scale, step);
    case nn::GuidanceKind::Apg:
      break;
  }
  return nn::apg_guidance(cond, null, scale, with_momentum ? &state_ : nullptr);
}

at::Tensor GuidedVelocity::at_step(const at::Tensor& latents, double timestep, std::int64_t step) {
  if (!options_.is_on() || !window_.contains(step)) return predict(latents, timestep, cond_, {});
  const auto scale =
      nn::decayed_scale(window_, step, options_.scale, options_.least_scale, options_.decay);
  return guided(latents, timestep, step, scale);
}

}  // namespace ubique::acestep
