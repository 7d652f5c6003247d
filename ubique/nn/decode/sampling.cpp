// SPDX-License-Identifier: Apache-2.0
// Ranking, the nucleus, and one draw from the remaining probabilities.
#include "ubique/nn/decode/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "ubique/base/error.h"

namespace ubique::nn {
namespace {

void check_logits(std::span<const float> logits) {
  check(!logits.empty(), ErrorKind::Internal, "[nn.sampling] no logits to choose from.");
  bool possible = false;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    // Minus infinity is allowed: it rules a token out.
    check(!std::isnan(logits[i]) && logits[i] < std::numeric_limits<float>::infinity(),
          ErrorKind::Input,
          "[nn.sampling] the model gave {} for token {}; expected a number. Damaged weights, or a "
          "dtype that is too narrow: try --dtype f32.",
          logits[i], i);
    possible = possible || std::isfinite(logits[i]);
  }
  check(possible, ErrorKind::Input, "[nn.sampling] the model rules out every token.");
}

/// Indices of the top_k largest logits (0: of all), largest first.
std::vector<std::int32_t> ranked(std::span<const float> logits, std::int64_t top_k) {
  std::vector<std::int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto kept = top_k > 0 ? std::min<std::size_t>(static_cast<std::size_t>(top_k), order.size())
                              : order.size();
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(kept);
  std::partial_sort(order.begin(), end, order.end(), [&](std::int32_t a, std::int32_t b) {
    const auto left = logits[static_cast<std::size_t>(a)];
    const auto right = logits[static_cast<std::size_t>(b)];
    return left != right ? left > right : a < b;
  });
  order.erase(end, order.end());
  return order;
}

/// How many of the first weights are needed for `share` of their sum; at least one.
std::size_t nucleus(const std::vector<double>& weights, double share) {
  if (share >= 1) return weights.size();
  const double wanted = share * std::accumulate(weights.begin(), weights.end(), 0.0);
  double mass = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    mass += weights[i];
    if (mass >= wanted) return i + 1;
  }
  return weights.size();
}

}  // namespace

void validate(const SamplingOptions& options) {
  check(std::isfinite(options.temperature) && options.temperature >= 0, ErrorKind::Usage,
        "[nn.sampling] --temperature is out of range; got {}, expected 0 (the likeliest token) or "
        "more.",
        options.temperature);
  check(options.top_k >= 0, ErrorKind::Usage,
        "[nn.sampling] --top-k is out of range; got {}, expected 0 (all tokens) or more.",
        options.top_k);
  check(options.top_p > 0 && options.top_p <= 1, ErrorKind::Usage,
        "[nn.sampling] --top-p is out of range; got {}, expected more than 0, at most 1.",
        options.top_p);
  check(options.min_p >= 0 && options.min_p < 1, ErrorKind::Usage,
        "[nn.sampling] --min-p is out of range; got {}, expected at least 0, below 1.",
        options.min_p);
  check(std::isfinite(options.repetition_penalty) && options.repetition_penalty > 0,
        ErrorKind::Usage,
        "[nn.sampling] --repetition-penalty is out of range; got {}, expected more than 0.",
        options.repetition_penalty);
}

void penalize_repetition(std::vector<float>& logits, std::span<const std::int32_t> seen,
                         double penalty) {
  if (penalty == 1) return;
  const std::set<std::int32_t> tokens(seen.begin(), seen.end());
  for (const auto token : tokens) {
    auto& logit = logits.at(static_cast<std::size_t>(token));
    logit = static_cast<float>(logit > 0 ? logit / penalty : logit * penalty);
  }
}

void validate(const LogitChanges& changes) {
  check(std::isfinite(changes.presence) && std::isfinite(changes.frequency), ErrorKind::Usage,
        "[nn.sampling] presence and frequency penalties must be numbers; got {} and {}.",
        changes.presence, changes.frequency);
  for (const auto& [token, bias] : changes.bias) {
    check(token >= 0 && std::isfinite(bias), ErrorKind::Usage,
          "[nn.sampling] the bias of token {} is {}; expected a token and a number.", token, bias);
  }
}

void change_logits(std::vector<float>& logits, std::span<const std::int32_t> generated,
                   const LogitChanges& changes) {
  const auto add = [&](std::int32_t token, double amount) {
    const auto place = static_cast<std::size_t>(token);
    if (place < logits.size()) logits[place] += static_cast<float>(amount);
  };
  if (changes.presence != 0 || changes.frequency != 0) {
    std::map<std::int32_t, int> counts;
    for (const auto token : generated) ++counts[token];
    for (const auto& [token, count] : counts) {
      add(token, -changes.presence - changes.frequency * count);
    }
  }
  for (const auto& [token, bias] : changes.bias) add(token, bias);
}

std::vector<TokenLogprob> logprobs_of(std::span<const float> logits, std::int32_t token,
                                      std::int64_t count) {
  const double highest = *std::ranges::max_element(logits);
  double mass = 0;
  for (const double logit : logits) mass += std::exp(logit - highest);
  const auto logprob = [&](std::int32_t id) {
    return TokenLogprob{id, logits[static_cast<std::size_t>(id)] - highest - std::log(mass)};
  };
  std::vector<TokenLogprob> list{logprob(token)};
  if (count <= 0) return list;
  for (const auto id : ranked(logits, count)) list.push_back(logprob(id));
  return list;
}

std::int32_t sample_ranked(std::span<const TokenLogit> ranked, const SamplingOptions& options,
                           const Random& random, std::uint64_t position) {
  const auto kept = options.top_k > 0 ? static_cast<std::size_t>(options.top_k) : ranked.size();
  const auto order = ranked.first(std::min(kept, ranked.size()));
  if (options.temperature == 0) return order.front().token;
  const double highest = order.front().logit;
  std::vector<double> weights;
  for (const auto& each : order) {
    weights.push_back(std::exp((each.logit - highest) / options.temperature));
  }
  weights.resize(nucleus(weights, options.top_p));
  // Weights are relative to the likeliest, which has 1.
  while (weights.size() > 1 && weights.back() < options.min_p) weights.pop_back();
  const double mass = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double drawn = random.uniform(position) * mass;
  double passed = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    passed += weights[i];
    if (drawn < passed) return order[i].token;
  }
  return order[weights.size() - 1].token;  // rounding of the last sum
}

std::int32_t sample_token(std::span<const float> logits, const SamplingOptions& options,
                          const Random& random, std::uint64_t position) {
  check_logits(logits);
  if (options.temperature == 0) {
    return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) -
                                     logits.begin());
  }
  std::vector<TokenLogit> order;
  for (const auto token : ranked(logits, options.top_k)) {
    order.push_back({token, logits[static_cast<std::size_t>(token)]});
  }
  return sample_ranked(order, options, random, position);
}

}  // namespace ubique::nn
