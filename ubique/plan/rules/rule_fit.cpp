// SPDX-License-Identifier: Apache-2.0
// Which dtype, checkpointing and number of samples at once fit together into the memory. It is
// predicted, so the first step is no experiment.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/text/text.h"
#include "ubique/device/budget.h"
#include "ubique/plan/rules/rules.h"

namespace ubique::plan {
namespace {

/// One way to run it: a dtype with its attention, with or without one of the ways to checkpoint.
struct Way {
  DTypeOption option;
  Choice<Attention> attention;
  bool checkpointing = false;
  std::size_t level = 0;
  std::int64_t batch = 0;  ///< most samples at once that fit; 0 = none
};

std::int64_t plan_budget(const Question& question) {
  const auto& facts = question.facts;
  const auto budget =
      facts.budget_bytes > 0 ? facts.budget_bytes : device::memory_budget(facts).bytes;
  const auto cap = question.wishes.memory;
  return cap > 0 ? std::min(cap, budget) : budget;
}

MemoryParts predict(const Question& question, const Way& way, std::int64_t batch) {
  return predict_memory(question.needs,
                        {question.wishes.mode, question.facts.kind, way.option.dtype,
                         way.attention.value, way.checkpointing, batch, way.level},
                        plan_budget(question));
}

/// Largest single tensor in bytes that the device takes; 0 = no limit known.
std::int64_t tensor_limit(const Question& question) {
  const auto stated = question.facts.max_tensor_bytes;
  const bool unknown_metal = stated == 0 && question.is(device::Kind::Mps);
  return unknown_metal ? std::int64_t{1} << 32 : stated;
}

double largest_tensor(const Question& question, DType dtype, std::int64_t batch) {
  return static_cast<double>(question.needs.activations.largest) * static_cast<double>(batch) *
         static_cast<double>(size_of(dtype));
}

std::int64_t largest_batch(const Question& question, const Way& way,
                           const std::vector<std::int64_t>& sizes) {
  const auto limit = static_cast<double>(tensor_limit(question));
  for (const auto size : sizes) {
    if (limit > 0 && largest_tensor(question, way.option.dtype, size) >= limit) continue;
    if (predict(question, way, size).fits) return size;
  }
  return 0;
}

/// Why checkpointing must stay off, or an empty text.
std::string checkpointing_obstacle(const Question& question) {
  if (!question.train()) return "no backward pass in inference";
  if (!question.needs.checkpointing.supported) return "the model cannot be checkpointed";
  if (question.wishes.checkpointing == Toggle::Off) return "as asked";
  const auto* fault =
      question.needs.dropout ? question.evidence.fault("checkpoint.dropout") : nullptr;
  return fault != nullptr ? describe(*fault) : "";
}

void add_ways(const Question& question, const DTypeOption& option, std::vector<Way>& ways,
              std::vector<Rejected>& rejected) {
  const auto attention = choose_attention(question, option.dtype);
  if (attention.reason.empty()) {
    const auto& last = attention.rejected.back();
    rejected.push_back({std::string(to_string(option.dtype)),
                        fmt::format("{} attention: {}", last.option, last.why)});
    return;
  }
  if (question.wishes.checkpointing != Toggle::On) ways.push_back({option, attention, false});
  if (!checkpointing_obstacle(question).empty()) return;
  const auto levels = question.needs.checkpointing.all().size();
  for (std::size_t level = 0; level < levels; ++level) {
    ways.push_back({option, attention, true, level});
  }
}

std::vector<Way> list_ways(const Question& question, const DTypeRanking& ranking,
                           std::vector<Rejected>& rejected) {
  const auto obstacle = checkpointing_obstacle(question);
  check(question.wishes.checkpointing != Toggle::On || obstacle.empty(), ErrorKind::Device,
        "[plan.checkpointing] gradient checkpointing is not possible on {}: {}; got checkpointing "
        "on, expected auto.",
        question.facts.label(), obstacle);
  std::vector<Way> ways;
  for (const auto& option : ranking.options) add_ways(question, option, ways, rejected);
  const auto wish = question.wishes.attention;
  check(!ways.empty(), ErrorKind::Device,
        "[plan.attention] no attention is possible and right for {} on {}: {}; got attention {}, "
        "expected {}.",
        question.needs.name, question.facts.label(), rejected.empty() ? "" : rejected.back().why,
        wish ? to_string(*wish) : "auto", wish ? "auto" : "another dtype, or --device cpu");
  return ways;
}

/// What would help a model that does not fit, in the order in which a person would try it.
std::string advice(const Question& question, const Way& way, std::int64_t batch) {
  std::vector<std::string> ideas;
  const auto& [facts, needs, wishes, evidence] = question;
  if (wishes.memory > 0 && wishes.memory < facts.budget_bytes) {
    ideas.push_back(fmt::format("--memory {} or none", human_bytes(facts.budget_bytes)));
  }
  if (wishes.batch > 1) ideas.emplace_back("a smaller --batch");
  Way half = way;
  half.option.dtype = needs.tolerates_bf16 ? DType::BF16 : DType::F16;
  const bool tolerated = needs.tolerates_bf16 || needs.tolerates_f16;
  if (!is_half(way.option.dtype) && tolerated && predict(question, half, batch).fits) {
    ideas.push_back(fmt::format("--dtype {}", to_string(half.option.dtype)));
  }
  if (question.train() && needs.checkpointing.supported && !way.checkpointing) {
    ideas.emplace_back("--checkpointing auto");
  }
  ideas.emplace_back("a smaller model or input");
  ideas.emplace_back("another machine (ubique plan --on all)");
  return join(ideas, ", ");
}

[[noreturn]] void fail_tensor(const Question& question, const Way& way, std::int64_t batch) {
  const double bytes = std::min(largest_tensor(question, way.option.dtype, batch), 9.2e18);
  const auto needed = static_cast<std::int64_t>(bytes);
  const auto limit = tensor_limit(question);
  throw DoesNotFit(
      fmt::format("[plan.memory] {} ({}) does not fit on {}: its largest tensor is too large; got "
                  "{} at batch {} in {}, expected less than {}. Try a smaller input, or tiles.",
                  question.needs.name, to_string(question.wishes.mode), question.facts.label(),
                  human_bytes(needed), batch, to_string(way.option.dtype), human_bytes(limit)),
      needed, limit);
}

[[noreturn]] void fail_too_large(const Question& question, const std::vector<Way>& ways,
                                 std::int64_t batch) {
  const auto& least = *std::min_element(ways.begin(), ways.end(), [&](const Way& a, const Way& b) {
    return predict(question, a, batch).total < predict(question, b, batch).total;
  });
  const auto parts = predict(question, least, batch);
  if (parts.fits) fail_tensor(question, least, batch);
  throw DoesNotFit(
      fmt::format(
          "[plan.memory] {} ({}) does not fit on {}; needs {} at batch {} in {}{}, has {} "
          "({}). Weights {}, gradients {}, optimizer {}, activations {}, workspace {}. Try {}.",
          question.needs.name, to_string(question.wishes.mode), question.facts.label(),
          human_bytes(parts.total), batch, to_string(least.option.dtype),
          least.checkpointing ? " with gradient checkpointing" : "", human_bytes(parts.budget),
          question.facts.budget_reason, human_bytes(parts.weights), human_bytes(parts.gradients),
          human_bytes(parts.optimizer), human_bytes(parts.activations),
          human_bytes(parts.workspace), advice(question, least, batch)),
      parts.total, parts.budget);
}

/// The first way that keeps the device busy, with all it can hold; a later way only up to that
/// point. So more memory never leads to a smaller batch, although it may lead to another way.
Way pick_way(const std::vector<Way>& ways, std::int64_t busy) {
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (ways[i].batch < busy) continue;
    Way way = ways[i];
    if (i > 0) way.batch = busy;
    return way;
  }
  return *std::max_element(ways.begin(), ways.end(),
                           [](const Way& a, const Way& b) { return a.batch < b.batch; });
}

Choice<bool> explain_checkpointing(const Question& question, const Way& chosen,
                                   const std::vector<Way>& ways) {
  const auto levels = question.needs.checkpointing.all();
  const double extra = levels.empty() ? 0 : levels[chosen.level].extra;
  auto cost = extra > 0 ? fmt::format("about {:.0f} % more work", 100 * extra)
                        : std::string("activations are computed twice");
  if (!levels.empty() && levels[chosen.level].segments > 0) {
    cost = fmt::format("{} segments, {}", levels[chosen.level].segments, cost);
  }
  if (chosen.checkpointing && question.wishes.checkpointing == Toggle::On) {
    return {true, "as asked: " + cost, {}};
  }
  if (chosen.checkpointing) {
    std::int64_t without = 0;
    for (const auto& way : ways) {
      if (way.option.dtype == chosen.option.dtype && !way.checkpointing) without = way.batch;
    }
    return {true,
            fmt::format("without it {} samples fit at once; {}", without, cost),
            {{"off", "too much memory"}}};
  }
  const auto obstacle = checkpointing_obstacle(question);
  if (!obstacle.empty()) return {false, obstacle, {}};
  return {false, "enough fits without it", {{"on", cost}}};
}

/// Why a dtype that could be used was not: ranked before the chosen one, or after it.
std::string why_other_dtype(DType other, DType chosen, bool before) {
  if (before) return "does not fit";
  if (other == DType::F32) return fmt::format("more memory than {}", to_string(chosen));
  if (chosen == DType::F32) return "f32 fits, and nothing measured speaks for less";
  if (other == DType::F16) return "needs loss scaling in training, and has less range";
  return fmt::format("{} comes first here", to_string(chosen));
}

std::string batch_reason(const Question& question, const MemoryParts& parts, const Way& chosen,
                         const std::vector<Way>& ways, std::int64_t most) {
  if (question.wishes.batch > 0) return "as asked";
  const auto used =
      fmt::format("{} of {} predicted", human_bytes(parts.total), human_bytes(parts.budget));
  if (chosen.batch == most) return "all that is wanted at once fits: " + used;
  const bool capped = std::any_of(ways.begin(), ways.end(), [&](const Way& way) {
    return way.option.dtype == chosen.option.dtype && way.checkpointing == chosen.checkpointing &&
           way.batch > chosen.batch;
  });
  return (capped ? "enough to keep the device busy: " : "largest that fits: ") + used;
}

}  // namespace

Fit find_fit(const Question& question, const BatchTarget& target, const DTypeRanking& ranking) {
  Fit fit;
  fit.rejected_dtypes = ranking.rejected;
  auto ways = list_ways(question, ranking, fit.rejected_dtypes);
  const auto sizes = batch_sizes(question, target);
  for (auto& way : ways) way.batch = largest_batch(question, way, sizes);
  std::int64_t busy = sizes.back();
  for (const auto size : sizes) {
    if (size <= question.needs.busy_batch) busy = std::max(busy, size);
  }
  const auto chosen = pick_way(ways, busy);
  if (chosen.batch == 0) fail_too_large(question, ways, sizes.back());

  fit.option = chosen.option;
  fit.attention = chosen.attention;
  fit.memory = predict(question, chosen, chosen.batch);
  fit.checkpointing = explain_checkpointing(question, chosen, ways);
  if (chosen.checkpointing) fit.level = question.needs.checkpointing.all()[chosen.level];
  fit.micro_batch.value = chosen.batch;
  fit.micro_batch.reason = batch_reason(question, fit.memory, chosen, ways, sizes.front());
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

}  // namespace ubique::plan
