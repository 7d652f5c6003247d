// SPDX-License-Identifier: Apache-2.0
// Editing latents by moving from one prompt to another without inverting the noise (FlowEdit).
#pragma once

#include "ubique/models/acestep/use/sample.h"

namespace ubique::acestep {

struct EditOptions {
  double begin = 0, end = 1;  ///< shares of the steps between which the difference is followed
  std::int64_t averaged = 1;  ///< noises whose differences are averaged in each step
};

/// Noise k = 0, 1, ... of the latents' shape, in the order in which it is asked for.
using NextNoise = std::function<at::Tensor()>;

/// The source latents (B, C, 16, T) as the target prompt would have them. After `end` of the steps
/// the target is sampled as usual. Euler steps, no omega.
at::Tensor edit_latents(const Dit& dit, const SongContexts& source_contexts,
                        const SongContexts& target_contexts, const at::Tensor& source,
                        const EditOptions& edit, const SampleOptions& options,
                        const NextNoise& next_noise, const SampleHooks& hooks = {});

}  // namespace ubique::acestep
