// SPDX-License-Identifier: Apache-2.0
// How long a process computes: measured, or arithmetic at a measured share of the peak rate.
#include <fmt/format.h>

#include "ubique/plan/world/world_plan.h"

namespace ubique::plan {
namespace {

constexpr double kBackward = 2.0 / 3;  // two products for every one of the forward pass

/// What updates of a family reached on an H200.
struct Measured {
  const char* family;
  double of_peak;   ///< of 989 TFLOP/s: arithmetic of the update / its time
  double backward;  ///< of the update's time
  const char* source;
};

constexpr Measured kMeasured[] = {
    {"meshnet", 0.13, 1 - 26.3 / 113, "113 ms for 26 channels at 256^3, 26.3 of them forward"},
    {"trm", 0.48, kBackward, "77 ms for 768 sudokus"},
    {"msinet", 0.37, kBackward, "12.0 ms for 16 pictures"},
    {"codelm", 0.37, kBackward, "48 ms for 16 rows of 1,024 tokens, 164 M parameters"},
};
constexpr double kAssumed = 0.3;

Pace pace_of(const Plan& plan, const Needs& needs, double samples_per_second) {
  if (samples_per_second > 0) {
    return {1e3 / samples_per_second, kBackward,
            fmt::format("{:g} samples a second, as given", samples_per_second)};
  }
  if (plan.floor_ms <= 0) {
    return {0, kBackward,
            "unknown: no peak rate of this machine for this dtype; "
            "--samples-per-second gives what one process was measured to do"};
  }
  const auto samples = static_cast<double>(plan.micro_batch.value * plan.accumulation.value);
  const double floor_ms = plan.floor_ms / samples;
  for (const auto& known : kMeasured) {
    if (needs.family != known.family) continue;
    return {
        floor_ms / known.of_peak, known.backward,
        fmt::format("arithmetic at {:.0f} % of the peak rate, which {} reached on an H200 ({}); "
                    "--samples-per-second gives a measured one",
                    known.of_peak * 100, known.family, known.source)};
  }
  return {
      floor_ms / kAssumed, kBackward,
      fmt::format("arithmetic at {:.0f} % of the peak rate, an assumption: this family's updates "
                  "were not timed; --samples-per-second gives a measured one",
                  kAssumed * 100)};
}

}  // namespace

Pace find_pace(const Plan& plan, const Needs& needs, double samples_per_second) {
  auto pace = pace_of(plan, needs, samples_per_second);
  // Its weights are used again and again: their gradients are whole only when the pass is over.
  if (needs.family == "trm") pace.overlap = 0;
  return pace;
}

}  // namespace ubique::plan
