// SPDX-License-Identifier: Apache-2.0
// Which token comes next, given what a model thinks of each: on the host, in f64, by the counter's
// generator, so that one seed gives the same text on every device.
#pragma once

#include <cstdint>
#include <span>

#include "ubique/base/numbers/random.h"

namespace ubique::nn {

struct SamplingOptions {
  double temperature = 0.7;  ///< 0: the likeliest, nothing is drawn
  std::int64_t top_k = 50;   ///< among so many of the likeliest; 0: all
  double top_p = 0.9;        ///< among the fewest of these that have so much of their mass; 1: all
};

/// Usage error that names the flag.
void validate(const SamplingOptions& choice);

/// The place of one logit, drawn by random.uniform(position). Of equal logits the lower place
/// counts as likelier. Input error if a logit is not a number: the weights or the dtype are wrong.
std::int32_t sample_token(std::span<const float> logits, const SamplingOptions& choice,
                          const Random& random, std::uint64_t position);

}  // namespace ubique::nn
