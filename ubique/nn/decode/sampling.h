// SPDX-License-Identifier: Apache-2.0
// Sampling of the next token from logits: temperature, top-k, top-p, min-p and a repetition
// penalty, on the host in f64 with the counter-based generator, so that the same logits and seed
// give the same text on every device.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ubique/base/numbers/random.h"

namespace ubique::nn {

struct SamplingOptions {
  double temperature = 0.7;  ///< 0: greedy, the largest logit
  std::int64_t top_k = 50;   ///< sample among the k largest logits; 0: all
  double top_p = 0.9;        ///< of these, the fewest whose probabilities sum to top_p; 1: all
  double min_p = 0;          ///< of these, those at least this share as likely as the likeliest
  double repetition_penalty = 1;  ///< logits of tokens seen before are made this much worse
};

/// Usage error that names the flag.
void validate(const SamplingOptions& options);

struct TokenLogit {
  std::int32_t token = 0;
  float logit = 0;
};
/// The larger logit, of equal ones the lower token.
inline bool ranks_before(const TokenLogit& a, const TokenLogit& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

/// The index of a logit, drawn by random.uniform(position). Of equal logits the lower index ranks
/// first. Input error if a logit is NaN or +infinity: the weights or the dtype are wrong.
std::int32_t sample_token(std::span<const float> logits, const SamplingOptions& options,
                          const Random& random, std::uint64_t position);

/// The same from the largest logits alone, in their order, at least top_k of them.
std::int32_t sample_ranked(std::span<const TokenLogit> ranked, const SamplingOptions& options,
                           const Random& random, std::uint64_t position);

/// Divides positive and multiplies negative logits of the tokens in `seen`, each once, as other
/// libraries do it. A penalty of 1 changes nothing.
void penalize_repetition(std::vector<float>& logits, std::span<const std::int32_t> seen,
                         double penalty);

/// What is subtracted from and added to logits before the choice, as OpenAI's interface has it.
struct LogitChanges {
  double presence = 0;   ///< subtracted once for each token that was generated before
  double frequency = 0;  ///< ... and once for each time that it was
  std::vector<std::pair<std::int32_t, double>> bias = {};  ///< added to the logits of tokens

  bool none() const { return presence == 0 && frequency == 0 && bias.empty(); }
};

/// Usage error for numbers that are none.
void validate(const LogitChanges& changes);
void change_logits(std::vector<float>& logits, std::span<const std::int32_t> generated,
                   const LogitChanges& changes);

/// A token with the natural logarithm of its probability.
struct TokenLogprob {
  std::int32_t token = 0;
  double logprob = 0;
};

/// The token's own, then the `count` likeliest of all, best first; by the model alone, before
/// temperature and limits.
std::vector<TokenLogprob> logprobs_of(std::span<const float> logits, std::int32_t token,
                                      std::int64_t count);

}  // namespace ubique::nn
