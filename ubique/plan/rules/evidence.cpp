// SPDX-License-Identifier: Apache-2.0
// Searches the verdicts of a report.
#include "ubique/plan/rules/evidence.h"

#include <fmt/format.h>

#include <algorithm>

namespace ubique::plan {
namespace {

using probe::Layout;
using probe::Outcome;
using probe::Verdict;

bool covers(std::string_view op, const Verdict& verdict) {
  if (!verdict.op.starts_with(op)) return false;
  return verdict.op.size() == op.size() || verdict.op[op.size()] == '.';
}

bool is_fault(const Verdict& verdict) {
  return verdict.outcome == Outcome::Fail || verdict.outcome == Outcome::Refused;
}

}  // namespace

template <typename Match>
const Verdict* Evidence::first(std::string_view op, Match match) const {
  for (const auto& verdict : report_.verdicts) {
    const bool counts = with_gradients_ || !verdict.gradient;
    if (counts && covers(op, verdict) && match(verdict)) return &verdict;
  }
  return nullptr;
}

const Verdict* Evidence::fault(std::string_view op, DType dtype) const {
  return first(op, [&](const Verdict& v) { return v.dtype == dtype && is_fault(v); });
}

const Verdict* Evidence::fault(std::string_view op, DType dtype, Layout layout) const {
  return first(
      op, [&](const Verdict& v) { return v.dtype == dtype && v.layout == layout && is_fault(v); });
}

const Verdict* Evidence::fault(std::string_view op) const {
  return first(op, [](const Verdict& v) { return is_fault(v); });
}

const Verdict* Evidence::wrong(std::string_view op, DType dtype) const {
  return first(op,
               [&](const Verdict& v) { return v.dtype == dtype && v.outcome == Outcome::Fail; });
}

bool Evidence::proven(std::string_view op, DType dtype) const {
  const auto* passed =
      first(op, [&](const Verdict& v) { return v.dtype == dtype && v.outcome == Outcome::Pass; });
  return passed != nullptr && fault(op, dtype) == nullptr;
}

bool Evidence::proven(std::string_view op, DType dtype, Layout layout) const {
  const auto* passed = first(op, [&](const Verdict& v) {
    return v.dtype == dtype && v.layout == layout && v.outcome == Outcome::Pass;
  });
  return passed != nullptr && fault(op, dtype, layout) == nullptr;
}

double Evidence::time(std::string_view op, DType dtype, Layout layout) const {
  double sum = 0;
  int timed = 0;
  for (const auto& verdict : report_.verdicts) {
    const bool counts = (with_gradients_ || !verdict.gradient) && covers(op, verdict) &&
                        verdict.dtype == dtype && verdict.layout == layout &&
                        verdict.outcome == Outcome::Pass && verdict.device_ms > launch_ms_;
    if (!counts) continue;
    sum += verdict.device_ms;
    ++timed;
  }
  return timed == 0 ? 0 : sum / timed;
}

double Evidence::best_time(std::string_view op, DType dtype) const {
  double best = 0;
  for (const auto layout : {Layout::Contiguous, Layout::ChannelsLast}) {
    const double ms = fault(op, dtype, layout) == nullptr ? time(op, dtype, layout) : 0;
    if (ms > 0 && (best == 0 || ms < best)) best = ms;
  }
  return best;
}

double Evidence::cpu_ratio(std::string_view op) const {
  double device = 0, cpu = 0;
  for (const auto& verdict : report_.verdicts) {
    const bool counts = (with_gradients_ || !verdict.gradient) && covers(op, verdict) &&
                        verdict.outcome == Outcome::Pass && verdict.cpu_ms > 0;
    if (!counts) continue;
    device += verdict.device_ms;
    cpu += verdict.cpu_ms;
  }
  return cpu > 0 ? device / cpu : 0;
}

std::string describe(const Verdict& verdict) {
  if (verdict.outcome == Outcome::Refused) {
    return fmt::format("{} was refused by the device{}", verdict.id,
                       verdict.detail.empty() ? "" : " (" + verdict.detail + ")");
  }
  if (verdict.tolerance == 0 && !verdict.detail.empty()) {  // it stopped before there was an error
    return fmt::format("{} failed its probe ({})", verdict.id, verdict.detail);
  }
  return fmt::format("{} failed its probe (error {:.3g}, tolerance {:.3g}{})", verdict.id,
                     verdict.error, verdict.tolerance,
                     verdict.detail.empty() ? "" : ": " + verdict.detail);
}

}  // namespace ubique::plan
