// SPDX-License-Identifier: Apache-2.0
// Sampling tokens from probabilities, and the cumulative sums that samplers use.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "ubique/device/runtime.h"
#include "ubique/probe/probes/groups.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::probe {
namespace {

constexpr std::int64_t kSampleRows = 16, kVocabulary = 1031, kDraws = 4096;

/// Rows of probabilities in which every second token, the first and the last have probability zero
/// and one token has probability 1/2.
at::Tensor token_probabilities(const Random& random, DType dtype) {
  auto weights =
      make_operand({.name = "weights", .shape = {kSampleRows, kVocabulary}}, DType::F32, random)
          .abs()
          .add(0.01);
  for (std::int64_t token = 0; token < kVocabulary; token += 2) weights.select(1, token).zero_();
  weights.select(1, kVocabulary - 1).zero_();
  const auto likely = weights.select(1, 513);
  likely.zero_();
  likely.copy_(weights.sum(1));
  return (weights / weights.sum(1, true)).to(to_torch(dtype));  // (rows, vocabulary)
}

Finding check_draws(const at::Tensor& tokens, const at::Tensor& probabilities, bool replacement) {
  const auto drawn = tokens.cpu();
  if (drawn.scalar_type() != at::kLong) return not_run(Outcome::Fail, "tokens are not integers");
  const auto outside = drawn.lt(0).logical_or(drawn.ge(kVocabulary)).sum().item<std::int64_t>();
  if (outside > 0) {
    return judge(static_cast<double>(outside), 0,
                 fmt::format("{} of {} tokens are out of range", outside, drawn.numel()));
  }
  const auto impossible = probabilities.gather(1, drawn).eq(0).sum().item<std::int64_t>();
  if (impossible > 0) {
    return judge(static_cast<double>(impossible), 0,
                 fmt::format("{} of {} tokens have probability zero", impossible, drawn.numel()));
  }
  if (!replacement) return {};
  // Over 65536 draws the share of a token with p = 1/2 has a standard deviation of 0.002.
  const double share = drawn.eq(513).to(at::kDouble).mean().item<double>();
  return judge(std::abs(share - 0.5), 0.02,
               fmt::format("a token of probability 0.5 was drawn {:.3f} of the time", share));
}

Finding probe_multinomial(const Site& site, DType dtype, bool replacement) {
  const auto probabilities = token_probabilities(site.random, dtype);
  device::manual_seed(site.device, site.random.stream());
  // Without replacement a row has fewer possible tokens than draws with it.
  const auto draws = replacement ? kDraws : kVocabulary / 4;
  const auto tokens = at::multinomial(probabilities.to(site.device), draws, replacement);
  return check_draws(tokens, probabilities, replacement);
}

Operation cumsum_operation(const Case& request) {
  const auto length = static_cast<double>(request.shape[1]);
  // A parallel scan is a tree: a running sum kept in the dtype is rounded once per level.
  const RoundingPath path{length, std::sqrt(std::log2(length + 1))};
  Operation operation;
  operation.operands = {{.name = "input", .shape = request.shape, .gradient_path = path}};
  operation.forward = [](const Tensors& in) { return Tensors{at::cumsum(in[0], 1)}; };
  operation.path = path;
  operation.timed = request.timed;
  return operation;
}

}  // namespace

std::vector<Case> cumsum_cases() {
  return {{.op = "cumsum", .shape = {3, 33}, .dtypes = kProbedDtypes},
          {.op = "cumsum", .shape = {2, 4099}, .dtypes = kProbedDtypes}};
}

std::vector<Probe> expand_cumsum(const Case& request) {
  return make_probes({"cumsum", fmt::format("{}", fmt::join(request.shape, "x")),
                      cumsum_operation(request), request.dtypes, request.layouts,
                      request.gradient});
}

std::vector<Probe> sampling_probes() {
  std::vector<Probe> probes;
  for (const auto dtype : kProbedDtypes) {
    for (const bool replacement : {true, false}) {
      probes.push_back({"sampling.zero_probability", replacement ? "replacement" : "distinct",
                        dtype, Layout::Contiguous, false, [dtype, replacement](const Site& site) {
                          return probe_multinomial(site, dtype, replacement);
                        }});
    }
  }
  return probes;
}

}  // namespace ubique::probe
