// SPDX-License-Identifier: Apache-2.0
// Names of outcomes and layouts, and searches in a report.
#include "ubique/probe/core/verdict.h"

namespace ubique::probe {
namespace {

bool is_of_op(const Verdict& verdict, std::string_view op) {
  if (!op.empty() && op.back() == '.') return verdict.op.starts_with(op);
  return verdict.op == op;
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::Pass:
      return "pass";
    case Outcome::Fail:
      return "fail";
    case Outcome::Refused:
      return "refused";
    case Outcome::Skipped:
      break;
  }
  return "skipped";
}

std::string_view to_string(Layout layout) {
  return layout == Layout::ChannelsLast ? "channels_last" : "contiguous";
}

const Verdict* Report::find(std::string_view id) const {
  for (const auto& verdict : verdicts) {
    if (verdict.id == id) return &verdict;
  }
  return nullptr;
}

std::vector<const Verdict*> Report::of_op(std::string_view op) const {
  std::vector<const Verdict*> found;
  for (const auto& verdict : verdicts) {
    if (is_of_op(verdict, op)) found.push_back(&verdict);
  }
  return found;
}

}  // namespace ubique::probe
