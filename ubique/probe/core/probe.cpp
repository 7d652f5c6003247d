// SPDX-License-Identifier: Apache-2.0
// Findings, ids and the hash of names.
#include "ubique/probe/core/probe.h"

#include <fmt/format.h>

namespace ubique::probe {

Finding judge(double error, double tolerance, const std::string& detail) {
  const bool passed = error <= tolerance;  // false for NaN
  Finding finding;
  finding.outcome = passed ? Outcome::Pass : Outcome::Fail;
  finding.error = error;
  finding.tolerance = tolerance;
  if (!passed) finding.detail = detail;
  return finding;
}

Finding not_run(Outcome outcome, const std::string& reason) {
  Finding finding;
  finding.outcome = outcome;
  finding.detail = reason;
  return finding;
}

std::string Probe::id() const {
  const auto name = tag.empty() ? op : fmt::format("{}[{}]", op, tag);
  return fmt::format("{}/{}/{}/{}", name, to_string(dtype), to_string(layout),
                     gradient ? "gradient" : "forward");
}

std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 14695981039346656037U;
  for (const unsigned char letter : name) hash = (hash ^ letter) * 1099511628211U;
  return hash;
}

}  // namespace ubique::probe
