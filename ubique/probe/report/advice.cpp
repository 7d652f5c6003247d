// SPDX-License-Identifier: Apache-2.0
// Tables of known remedies and alternatives, and the sentences made from them.
#include "ubique/probe/report/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "ubique/base/text/text.h"

namespace ubique::probe {
namespace {

using Verdicts = std::vector<const Verdict*>;

/// What to do about an op that is wrong in every layout and has no better variant.
struct Remedy {
  std::string_view op;
  std::string_view text;
};

constexpr std::array<Remedy, 12> kRemedies = {{
    {"views.strided", "copy to contiguous memory before such an op"},
    {"views.sliced", "copy a slice before working on it"},
    {"layer_norm.frozen_input", "let its input require a gradient"},
    {"attention.gqa", "repeat the key and value heads"},
    {"transfer.non_blocking", "every copy waits for the device"},
    {"sampling.zero_probability", "draw tokens on the CPU"},
    {"cumsum", "make cumulative sums on the CPU"},
    {"autocast.effective_dtype", "no autocast in this dtype; cast explicitly"},
    {"checkpoint.dropout", "no gradient checkpointing through dropout"},
    {"float64", "keep float64 on the CPU"},
    {"limits.tensor_bytes", "keep tensors far below the stated limit"},
    {"memory.oom", "choose batch sizes by prediction, never by running out of memory"},
}};

/// Other ops that compute the same result, best first.
struct Alternative {
  std::string_view op;
  std::array<std::string_view, 2> others;
};

constexpr std::array<Alternative, 4> kAlternatives = {{
    {"attention.fused_causal", {"attention.explicit_mask", "attention.math"}},
    {"attention.explicit_mask", {"attention.math", ""}},
    {"attention.fused_full", {"attention.math", ""}},
    {"attention.window", {"attention.math", ""}},
}};

bool failed_or_refused(const Verdict& verdict) {
  return verdict.outcome == Outcome::Fail || verdict.outcome == Outcome::Refused;
}

template <typename Condition>
Verdicts select_verdicts(const Report& report, std::string_view op, Condition condition) {
  auto found = report.of_op(op);
  std::erase_if(found, [&](const Verdict* verdict) { return !condition(*verdict); });
  return found;
}

/// All probes of an op in this dtype (and layout) passed, and there was at least one.
bool all_pass(const Report& report, std::string_view op, DType dtype,
              std::optional<Layout> layout = {}) {
  const auto found = select_verdicts(report, op, [&](const Verdict& verdict) {
    return verdict.dtype == dtype && (!layout || verdict.layout == *layout) &&
           verdict.outcome != Outcome::Skipped;
  });
  return !found.empty() && std::none_of(found.begin(), found.end(),
                                        [](const Verdict* v) { return failed_or_refused(*v); });
}

std::string reason_of(const Verdict& verdict) {
  if (verdict.outcome == Outcome::Refused) return "refused: " + verdict.detail;
  if (verdict.tolerance > 0 && std::isfinite(verdict.error)) {
    return fmt::format("error {:.2g}, allowed {:.2g}", verdict.error, verdict.tolerance);
  }
  return verdict.detail;
}

std::string alternative_to(const Report& report, const std::string& op, DType dtype) {
  for (const auto& alternative : kAlternatives) {
    if (alternative.op != op) continue;
    for (const auto other : alternative.others) {
      if (!other.empty() && all_pass(report, other, dtype)) return fmt::format("use {}", other);
    }
  }
  return {};
}

std::string remedy_for(const Report& report, const std::string& op, DType dtype) {
  if (auto other = alternative_to(report, op, dtype); !other.empty()) return other;
  for (const auto& remedy : kRemedies) {
    if (remedy.op == op) return std::string(remedy.text);
  }
  for (const auto other : {DType::F32, DType::BF16, DType::F16}) {
    if (other != dtype && all_pass(report, op, other)) {
      return fmt::format("use {}", to_string(other));
    }
  }
  return "run it on the CPU";
}

/// The sentence about one op in one dtype, or nothing if all of it passed.
std::string sentence_for(const Report& report, const std::string& op, DType dtype) {
  const auto bad = select_verdicts(report, op, [&](const Verdict& verdict) {
    return verdict.dtype == dtype && failed_or_refused(verdict);
  });
  if (bad.empty()) return {};
  const auto& worst = *worst_of(bad);
  for (const auto layout : {Layout::Contiguous, Layout::ChannelsLast}) {
    const auto other = layout == Layout::Contiguous ? Layout::ChannelsLast : Layout::Contiguous;
    if (worst.layout == layout && all_pass(report, op, dtype, other)) {
      return fmt::format("{}, {}, {}: use {} ({})", op, to_string(dtype), to_string(layout),
                         to_string(other), reason_of(worst));
    }
  }
  return fmt::format("{}, {}: {} ({})", op, to_string(dtype), remedy_for(report, op, dtype),
                     reason_of(worst));
}

std::vector<std::string> ops_in_order(const Report& report) {
  std::vector<std::string> ops;
  for (const auto& verdict : report.verdicts) {
    if (std::find(ops.begin(), ops.end(), verdict.op) == ops.end()) ops.push_back(verdict.op);
  }
  return ops;
}

/// Ops of which every probe in this dtype was refused: the dtype is missing, not the op.
std::vector<std::string> ops_without(const Report& report, DType dtype) {
  std::vector<std::string> ops;
  for (const auto& op : ops_in_order(report)) {
    const auto of_dtype =
        select_verdicts(report, op, [&](const Verdict& verdict) { return verdict.dtype == dtype; });
    const bool refused = std::all_of(of_dtype.begin(), of_dtype.end(), [](const Verdict* verdict) {
      return verdict->outcome == Outcome::Refused;
    });
    if (!of_dtype.empty() && refused) ops.push_back(op);
  }
  return ops;
}

/// Time on the device over time on the CPU, of the slowest timed probe of an op in a dtype.
double slowness(const Report& report, const std::string& op, DType dtype) {
  double worst = 0;
  for (const auto* verdict : report.of_op(op)) {
    if (verdict->dtype == dtype && verdict->slower_than_cpu()) {
      worst = std::max(worst, verdict->device_ms / verdict->cpu_ms);
    }
  }
  return worst;
}

/// "slower than the CPU here: matmul f32 (2.1x), ...": the worst few.
std::string slow_sentence(const Report& report) {
  constexpr std::size_t kNamed = 6;
  std::vector<std::pair<double, std::string>> slow;
  for (const auto& op : ops_in_order(report)) {
    for (const auto dtype : {DType::F32, DType::BF16, DType::F16}) {
      const double factor = slowness(report, op, dtype);
      if (factor <= 1.1) continue;  // about equal
      slow.emplace_back(factor, fmt::format("{} {} ({:.1f}x)", op, to_string(dtype), factor));
    }
  }
  if (slow.empty()) return {};
  std::stable_sort(slow.begin(), slow.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> named;
  for (const auto& [factor, text] : slow) named.push_back(text);
  const auto more = named.size() > kNamed ? named.size() - kNamed : 0;
  named.resize(named.size() - more);
  return "slower than the CPU here: " + join(named, ", ") +
         (more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

const Verdict* worst_of(const std::vector<const Verdict*>& verdicts) {
  const auto badness = [](const Verdict* verdict) {
    const int rank = verdict->outcome == Outcome::Fail      ? 3
                     : verdict->outcome == Outcome::Refused ? 2
                     : verdict->outcome == Outcome::Pass    ? 1
                                                            : 0;
    const double ratio = verdict->tolerance > 0 ? verdict->error / verdict->tolerance : 0;
    return std::pair(rank, ratio);
  };
  const auto worst = std::max_element(verdicts.begin(), verdicts.end(),
                                      [&](auto a, auto b) { return badness(a) < badness(b); });
  return worst == verdicts.end() ? nullptr : *worst;
}

std::vector<std::string> advice(const Report& report) {
  constexpr std::array<DType, 4> kDtypes = {DType::F64, DType::F32, DType::BF16, DType::F16};
  constexpr std::size_t kFew = 2;  // more ops than that: the dtype is missing, and reported once
  std::vector<std::string> sentences;
  std::array<std::vector<std::string>, kDtypes.size()> reported;
  for (std::size_t i = 0; i < kDtypes.size(); ++i) {
    auto missing = ops_without(report, kDtypes[i]);
    if (missing.size() <= kFew) continue;
    sentences.push_back(
        fmt::format("{}: refused by {}", to_string(kDtypes[i]), join(missing, ", ")));
    reported[i] = std::move(missing);
  }
  for (const auto& op : ops_in_order(report)) {
    for (std::size_t i = 0; i < kDtypes.size(); ++i) {
      if (std::find(reported[i].begin(), reported[i].end(), op) != reported[i].end()) continue;
      auto sentence = sentence_for(report, op, kDtypes[i]);
      if (!sentence.empty()) sentences.push_back(std::move(sentence));
    }
  }
  if (auto slow = slow_sentence(report); !slow.empty()) sentences.push_back(std::move(slow));
  return sentences;
}

}  // namespace ubique::probe
