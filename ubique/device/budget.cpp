// SPDX-License-Identifier: Apache-2.0
// The budget of each kind of device, with its reason in words.
#include "ubique/device/budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/text/text.h"

namespace ubique::device {
namespace {

Budget apple_budget(const Facts& facts) {
  if (facts.recommended_bytes > 0) {
    const auto margin = memory_margin(facts.recommended_bytes);
    return {std::max<std::int64_t>(0, facts.recommended_bytes - margin),
            fmt::format("recommended working set of {} (of {} unified memory), {} kept back",
                        human_bytes(facts.recommended_bytes), human_bytes(facts.total_bytes),
                        human_bytes(margin))};
  }
  return {facts.total_bytes / 10 * 8,
          fmt::format("80 % of {} unified memory; the recommended working set is unknown",
                      human_bytes(facts.total_bytes))};
}

}  // namespace

std::int64_t memory_margin(std::int64_t total_bytes) {
  return std::max<std::int64_t>(std::int64_t{512} << 20, total_bytes / 20);
}

Budget memory_budget(const Facts& facts) {
  if (facts.kind == Kind::Mps) return apple_budget(facts);
  const bool measured = facts.profile.empty() && facts.free_bytes > 0;
  const auto usable = measured ? std::min(facts.free_bytes, facts.total_bytes) : facts.total_bytes;
  const auto margin = memory_margin(facts.total_bytes);
  const char* what = facts.kind == Kind::Cpu ? "RAM" : "device memory";
  auto reason = measured ? fmt::format("{} free of {} {}, {} kept back", human_bytes(usable),
                                       human_bytes(facts.total_bytes), what, human_bytes(margin))
                         : fmt::format("all of {} {}, {} kept back", human_bytes(facts.total_bytes),
                                       what, human_bytes(margin));
  return {std::max<std::int64_t>(0, usable - margin), std::move(reason)};
}

}  // namespace ubique::device
