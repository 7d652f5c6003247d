// SPDX-License-Identifier: Apache-2.0
// Sampling of the next token from logits: temperature, top-k and top-p, on the host in f64 with the
// counter-based generator, so that the same logits and seed give the same text on every device.
#pragma once

#include <cstdint>
#include <span>

#include "ubique/base/numbers/random.h"

namespace ubique::nn {

struct SamplingOptions {
  double temperature = 0.7;  ///< 0: greedy, the largest logit
  std::int64_t top_k = 50;   ///< sample among the k largest logits; 0: all
  double top_p = 0.9;        ///< of these, the fewest whose probabilities sum to top_p; 1: all
};

/// Usage error that names the flag.
void validate(const SamplingOptions& options);

/// The index of a logit, drawn by random.uniform(position). Of equal logits the lower index ranks
/// first. Input error if a logit is NaN or +infinity: the weights or the dtype are wrong.
std::int32_t sample_token(std::span<const float> logits, const SamplingOptions& options,
                          const Random& random, std::uint64_t position);

}  // namespace ubique::nn
