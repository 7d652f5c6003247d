// SPDX-License-Identifier: Apache-2.0
// The formula: rounds x messages x latency + bytes / rate.
#include "ubique/plan/world/exchange.h"

#include <algorithm>

namespace ubique::plan {

Exchange predict_exchange(std::int64_t parameters, std::int64_t micro_batches, int processes,
                          const Interconnect& link) {
  Exchange exchange;
  exchange.gradient_bytes = parameters * static_cast<std::int64_t>(sizeof(float));
  const double copies =
      static_cast<double>(exchange.gradient_bytes) * static_cast<double>(micro_batches);
  exchange.rows = copies <= static_cast<double>(kMostGradientCopies) ? micro_batches : 1;
  if (processes == 1) return exchange;
  const double others = processes - 1;
  // Rows go to the rank that adds up their share, the sums back to all.
  exchange.sent = static_cast<double>(exchange.gradient_bytes) *
                  static_cast<double>(exchange.rows + 1) * others / processes;
  constexpr std::int64_t kNews = 2, kPerBlock = 2;  // the loss's weight, the micro-batches' numbers
  exchange.rounds = kNews + kPerBlock * ((parameters + kSumBlock - 1) / kSumBlock);
  exchange.ms = static_cast<double>(exchange.rounds) * others * link.latency_us * 1e-3 +
                exchange.sent / (link.gbytes_per_second * 1e9) * 1e3;
  return exchange;
}

double hidden_ms(double exchange_ms, double backward_ms, double overlap) {
  return std::min(exchange_ms, overlap * backward_ms);
}

}  // namespace ubique::plan
