// SPDX-License-Identifier: Apache-2.0
// Which dtype, checkpointing level and micro-batch fit into memory together. Memory is predicted,
// so that the first step does not have to be tried.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "ubique/base/text/text.h"
#include "ubique/device/budget.h"
#include "ubique/plan/rules/rules.h"

namespace ubique::plan {
namespace {

/// One combination to try: a dtype with its attention, without or with one level of checkpointing.
struct Candidate {
  DTypeOption option;
  Choice<Attention> attention;
  bool checkpointing = false;
  std::size_t level = 0;
  bool in_turn = false;    ///< stages of inference, one after the other in memory
  std::int64_t batch = 0;  ///< most samples at once that fit; 0 = none
  Shard shard = Shard::None;
};

std::int64_t plan_budget(const Context& context) {
  const auto& facts = context.facts;
  const auto budget =
      facts.budget_bytes > 0 ? facts.budget_bytes : device::memory_budget(facts).bytes;
  const auto cap = context.wishes.memory;
  return cap > 0 ? std::min(cap, budget) : budget;
}

MemoryParts predict(const Context& context, const Needs& needs, const Candidate& candidate,
                    std::int64_t batch) {
  return predict_memory(needs,
                        {context.wishes.mode, context.facts.kind, candidate.option.dtype,
                         candidate.attention.value, candidate.checkpointing, batch, candidate.level,
                         candidate.in_turn, candidate.shard, context.wishes.world_size},
                        plan_budget(context));
}

MemoryParts predict(const Context& context, const Candidate& candidate, std::int64_t batch) {
  return predict(context, context.needs, candidate, batch);
}

/// Largest single tensor in bytes that the device takes; 0 = no limit known.
std::int64_t tensor_limit(const Context& context) {
  const auto stated = context.facts.max_tensor_bytes;
  const bool unknown_metal = stated == 0 && context.is(device::Kind::Mps);
  return unknown_metal ? std::int64_t{1} << 32 : stated;
}

double largest_tensor(const Context& context, DType dtype, std::int64_t batch) {
  return static_cast<double>(context.needs.activations.largest) * static_cast<double>(batch) *
         static_cast<double>(size_of(dtype));
}

std::int64_t largest_batch(const Context& context, const Candidate& candidate,
                           const std::vector<std::int64_t>& sizes) {
  const auto limit = static_cast<double>(tensor_limit(context));
  for (const auto size : sizes) {
    if (limit > 0 && largest_tensor(context, candidate.option.dtype, size) >= limit) continue;
    if (predict(context, candidate, size).fits) return size;
  }
  return 0;
}

/// Why checkpointing must stay off, or an empty text.
std::string checkpointing_obstacle(const Context& context) {
  if (!context.train()) return "no backward pass in inference";
  if (!context.needs.checkpointing.supported) return "the model cannot be checkpointed";
  if (context.wishes.checkpointing == Toggle::Off) return "as asked";
  const auto* fault =
      context.needs.dropout ? context.evidence.fault("checkpoint.dropout") : nullptr;
  return fault != nullptr ? describe(*fault) : "";
}

void add_candidates(const Context& context, const DTypeOption& option, Shard shard,
                    std::vector<Candidate>& candidates, std::vector<Rejected>& rejected) {
  const auto attention = choose_attention(context, option.dtype);
  if (attention.reason.empty()) {
    const auto& last = attention.rejected.back();
    rejected.push_back({std::string(to_string(option.dtype)),
                        fmt::format("{} attention: {}", last.option, last.why)});
    return;
  }
  // Split weights are gathered for a block, and once more for its recomputation.
  const bool always_twice = shard == Shard::Weights;
  if (context.wishes.checkpointing != Toggle::On && !always_twice) {
    candidates.push_back({.option = option, .attention = attention, .shard = shard});
    const bool has_turns = !context.train() && context.needs.stages.size() > 1;
    if (has_turns)
      candidates.push_back({.option = option, .attention = attention, .in_turn = true});
  }
  if (!checkpointing_obstacle(context).empty()) return;
  const auto levels = context.needs.checkpointing.all().size();
  for (std::size_t level = 0; level < levels; ++level) {
    candidates.push_back({.option = option,
                          .attention = attention,
                          .checkpointing = true,
                          .level = level,
                          .shard = shard});
  }
}

std::vector<Candidate> list_candidates(const Context& context, const DTypeRanking& ranking,
                                       Shard shard, std::vector<Rejected>& rejected) {
  const auto obstacle = checkpointing_obstacle(context);
  check(context.wishes.checkpointing != Toggle::On || obstacle.empty(), ErrorKind::Device,
        "[plan.checkpointing] gradient checkpointing is not possible on {}: {}; got checkpointing "
        "on, expected auto.",
        context.facts.label(), obstacle);
  std::vector<Candidate> candidates;
  for (const auto& option : ranking.options) {
    add_candidates(context, option, shard, candidates, rejected);
  }
  check(shard != Shard::Weights || obstacle.empty(), ErrorKind::Device,
        "[plan.shard] weights are split together with gradient checkpointing, which is not "
        "possible here: {}; got shard weights, expected optimizer or none.",
        obstacle);
  const auto wish = context.wishes.attention;
  check(!candidates.empty(), ErrorKind::Device,
        "[plan.attention] no attention is possible and right for {} on {}: {}; got attention {}, "
        "expected {}.",
        context.needs.name, context.facts.label(), rejected.empty() ? "" : rejected.back().why,
        wish ? to_string(*wish) : "auto", wish ? "auto" : "another dtype, or --device cpu");
  return candidates;
}

/// The longest of what the model makes that fits, stages in turn, to a whole unit.
double longest_fit(const Context& context, Candidate candidate) {
  const auto& length = context.needs.length;
  if (length.unit.empty() || context.train()) return 0;
  candidate.in_turn = context.needs.stages.size() > 1;
  double low = 0, high = std::floor(length.most);
  while (low < high) {
    const double middle = std::ceil((low + high) / 2);
    const auto needs = at_length(context.needs, middle);
    if (predict(context, needs, candidate, candidate.batch).fits) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/// Suggestions for a model that does not fit, in the order in which to try them.
std::string advice(const Context& context, const Candidate& candidate, std::int64_t batch) {
  std::vector<std::string> ideas;
  const auto& [facts, needs, wishes, evidence] = context;
  if (wishes.memory > 0 && wishes.memory < facts.budget_bytes) {
    ideas.push_back(fmt::format("--memory {} or none", human_bytes(facts.budget_bytes)));
  }
  if (wishes.batch > 1) ideas.emplace_back("a smaller --batch");
  const auto half = suggested_half(context);
  Candidate halved = candidate;
  halved.option.dtype = half.value_or(candidate.option.dtype);
  if (!is_half(candidate.option.dtype) && half && predict(context, halved, batch).fits) {
    ideas.push_back(fmt::format("--dtype {}", to_string(*half)));
  }
  auto one = candidate;
  one.batch = batch;
  if (const auto longest = longest_fit(context, one); longest >= 1) {
    ideas.push_back(fmt::format("at most {:g} {}", longest, needs.length.unit));
  }
  if (context.train() && needs.checkpointing.supported && !candidate.checkpointing) {
    ideas.emplace_back("--checkpointing auto");
  }
  ideas.emplace_back("a smaller model or input");
  ideas.emplace_back("another machine (ubique plan --on all)");
  return join(ideas, ", ");
}

[[noreturn]] void fail_tensor(const Context& context, const Candidate& candidate,
                              std::int64_t batch) {
  const double bytes = std::min(largest_tensor(context, candidate.option.dtype, batch), 9.2e18);
  const auto needed = static_cast<std::int64_t>(bytes);
  const auto limit = tensor_limit(context);
  throw DoesNotFit(
      fmt::format("[plan.memory] {} ({}) does not fit on {}: its largest tensor is too large; got "
                  "{} at batch {} in {}, expected less than {}. Try a smaller input, or tiles.",
                  context.needs.name, to_string(context.wishes.mode), context.facts.label(),
                  human_bytes(needed), batch, to_string(candidate.option.dtype),
                  human_bytes(limit)),
      needed, limit);
}

[[noreturn]] void fail_too_large(const Context& context, const std::vector<Candidate>& candidates,
                                 std::int64_t batch) {
  const auto& least = *std::min_element(
      candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
        return predict(context, a, batch).total < predict(context, b, batch).total;
      });
  const auto parts = predict(context, least, batch);
  if (parts.fits) fail_tensor(context, least, batch);
  throw DoesNotFit(
      fmt::format(
          "[plan.memory] {} ({}) does not fit on {}; needs {} at batch {} in {}{}, has {} "
          "({}). Weights {}, gradients {}, optimizer {}, activations {}, workspace {}. Try {}.",
          context.needs.name, to_string(context.wishes.mode), context.facts.label(),
          human_bytes(parts.total), batch, to_string(least.option.dtype),
          least.checkpointing ? " with gradient checkpointing" : "", human_bytes(parts.budget),
          context.facts.budget_reason, human_bytes(parts.weights), human_bytes(parts.gradients),
          human_bytes(parts.optimizer), human_bytes(parts.activations),
          human_bytes(parts.workspace), advice(context, least, batch)),
      parts.total, parts.budget);
}

/// The first candidate that can run `busy` samples: the very first one with its largest batch, a
/// later one with `busy` only. So more memory never leads to a smaller batch.
Candidate pick_candidate(const std::vector<Candidate>& candidates, std::int64_t busy) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].batch < busy) continue;
    Candidate candidate = candidates[i];
    if (i > 0 || candidate.shard != Shard::None) candidate.batch = busy;
    return candidate;
  }
  return *std::max_element(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.batch < b.batch; });
}

Choice<bool> explain_checkpointing(const Context& context, const Candidate& chosen,
                                   const std::vector<Candidate>& candidates) {
  const auto levels = context.needs.checkpointing.all();
  const double extra = levels.empty() ? 0 : levels[chosen.level].extra;
  auto cost = extra > 0 ? fmt::format("about {:.0f} % more work", 100 * extra)
                        : std::string("activations are computed twice");
  if (!levels.empty() && levels[chosen.level].segments > 0) {
    cost = fmt::format("{} segments, {}", levels[chosen.level].segments, cost);
  }
  if (chosen.checkpointing && context.wishes.checkpointing == Toggle::On) {
    return {true, "as asked: " + cost, {}};
  }
  if (chosen.shard == Shard::Weights) {
    return {true, "with split weights each block is computed again: " + cost, {}};
  }
  if (chosen.checkpointing) {
    std::int64_t without = 0;
    for (const auto& candidate : candidates) {
      if (candidate.option.dtype == chosen.option.dtype && !candidate.checkpointing)
        without = candidate.batch;
    }
    return {true,
            fmt::format("without it {} samples fit at once; {}", without, cost),
            {{"off", "too much memory"}}};
  }
  const auto obstacle = checkpointing_obstacle(context);
  if (!obstacle.empty()) return {false, obstacle, {}};
  return {false, "enough fits without it", {{"on", cost}}};
}

Choice<bool> explain_turns(const Context& context, const Candidate& chosen) {
  if (context.train() || context.needs.stages.empty()) return {false, "no stages", {}};
  if (!chosen.in_turn)
    return {false, "all parts fit together: the next run need not load them", {}};
  auto together = chosen;
  together.in_turn = false;
  const auto parts = predict(context, together, chosen.batch);
  return {true,
          "each part is loaded when its turn comes and released after it",
          {{"off", fmt::format("all parts together take {}", human_bytes(parts.total))}}};
}

/// Why a usable dtype was not chosen: it ranks before the chosen one, or after it.
std::string why_other_dtype(DType other, DType chosen, bool before) {
  if (before) return "does not fit";
  if (other == DType::F32) return fmt::format("more memory than {}", to_string(chosen));
  if (chosen == DType::F32) return "f32 fits, and no measurement favours half precision";
  if (other == DType::F16) return "needs loss scaling in training, and has less range";
  return fmt::format("{} comes first here", to_string(chosen));
}

std::string batch_reason(const Context& context, const MemoryParts& parts, const Candidate& chosen,
                         const std::vector<Candidate>& candidates, std::int64_t most) {
  if (context.wishes.batch > 0) return "as asked";
  const auto used =
      fmt::format("{} of {} predicted", human_bytes(parts.total), human_bytes(parts.budget));
  if (chosen.batch == most) return "all that is wanted at once fits: " + used;
  const bool capped =
      std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        return candidate.option.dtype == chosen.option.dtype &&
               candidate.checkpointing == chosen.checkpointing && candidate.batch > chosen.batch;
      });
  return (capped ? "enough to keep the device busy: " : "largest that fits: ") + used;
}

Fit find_fit_of(const Context& context, const BatchTarget& target, const DTypeRanking& ranking,
                Shard shard) {
  Fit fit;
  fit.rejected_dtypes = ranking.rejected;
  auto candidates = list_candidates(context, ranking, shard, fit.rejected_dtypes);
  const auto sizes = batch_sizes(context, target);
  for (auto& candidate : candidates) candidate.batch = largest_batch(context, candidate, sizes);
  std::int64_t busy = sizes.back();
  for (const auto size : sizes) {
    if (size <= context.needs.busy_batch) busy = std::max(busy, size);
  }
  const auto chosen = pick_candidate(candidates, busy);
  if (chosen.batch == 0) fail_too_large(context, candidates, sizes.back());

  fit.keeps_busy = chosen.batch >= busy;
  fit.option = chosen.option;
  fit.attention = chosen.attention;
  fit.memory = predict(context, chosen, chosen.batch);
  fit.in_turn = explain_turns(context, chosen);
  fit.longest = longest_fit(context, chosen);
  fit.checkpointing = explain_checkpointing(context, chosen, candidates);
  if (chosen.checkpointing) fit.level = context.needs.checkpointing.all()[chosen.level];
  fit.micro_batch.value = chosen.batch;
  fit.micro_batch.reason = batch_reason(context, fit.memory, chosen, candidates, sizes.front());
  if (chosen.batch < sizes.front()) {
    fit.micro_batch.rejected = {{std::to_string(sizes.front()), "more memory than there is"}};
  }
  bool before = true;
  for (const auto& option : ranking.options) {
    if (option.dtype == chosen.option.dtype) {
      before = false;
      continue;
    }
    fit.rejected_dtypes.push_back({std::string(to_string(option.dtype)),
                                   why_other_dtype(option.dtype, chosen.option.dtype, before)});
  }
  return fit;
}

}  // namespace

namespace {

/// 2: enough samples at once, nothing computed twice; 1: enough; 0: fewer.
int goodness(const Fit& fit) { return fit.keeps_busy ? (fit.checkpointing.value ? 1 : 2) : 0; }

}  // namespace

/// The best of splitting nothing and optimizer states, the former if they are alike; weights only
/// where neither fits.
Fit find_fit(const Context& context, const BatchTarget& target, const DTypeRanking& ranking) {
  auto levels = shard_levels(context);
  const bool can_recompute = checkpointing_obstacle(context).empty();
  if (levels.size() > 1 && !can_recompute) std::erase(levels, Shard::Weights);
  std::optional<Fit> best;
  std::string without;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (best && levels[i] == Shard::Weights) break;
    try {
      auto fit = find_fit_of(context, target, ranking, levels[i]);
      if (best && goodness(fit) <= goodness(*best)) continue;
      if (best) without = "would compute twice, or fewer samples at once";
      fit.shard = explain_shard(context, levels[i], without);
      best = std::move(fit);
    } catch (const DoesNotFit& error) {
      if (i + 1 == levels.size() && !best) throw;
      without =
          fmt::format("needs {}, has {}", human_bytes(error.needed()), human_bytes(error.budget()));
    }
  }
  return *best;
}

}  // namespace ubique::plan
