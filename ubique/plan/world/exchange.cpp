// SPDX-License-Identifier: Apache-2.0
// The formula: rounds x messages x latency + bytes / rate.
#include "ubique/plan/world/exchange.h"

#include <algorithm>

namespace ubique::plan {

// Some buckets for each model, but not so small that their number costs more than it hides.
std::int64_t bucket_bytes(std::int64_t gradient_bytes) {
  constexpr std::int64_t kBuckets = 8;
  constexpr std::int64_t kLeast = std::int64_t{1} << 18, kMost = std::int64_t{1} << 24;
  return std::clamp(gradient_bytes / kBuckets, kLeast, kMost);
}

namespace {

/// Rows go to the rank that adds up their share, the sums back to all; what is split comes in
/// addition.
double sent_in_all(const Exchange& exchange, std::int64_t micro_batches, const Split& split) {
  const auto gradients = static_cast<double>(exchange.gradient_bytes);
  const auto rows = static_cast<double>(exchange.rows), passes = static_cast<double>(micro_batches);
  const double whole = gradients * (rows + 1);
  if (split.shard == Shard::None) return whole;
  const double in_blocks = static_cast<double>(split.block_numbers) * sizeof(float);
  if (split.shard == Shard::Optimizer || split.blocks == 0) return whole + gradients;
  // Of blocks, gradients go to their owners in every pass, and weights come twice.
  return (gradients - in_blocks) * (rows + 2) + in_blocks * passes + 2 * split.block_bytes * passes;
}

}  // namespace

Exchange predict_exchange(std::int64_t parameters, std::int64_t micro_batches, int processes,
                          const Interconnect& link, const Split& split) {
  Exchange exchange;
  exchange.gradient_bytes = parameters * static_cast<std::int64_t>(sizeof(float));
  const double copies =
      static_cast<double>(exchange.gradient_bytes) * static_cast<double>(micro_batches);
  exchange.rows = copies <= static_cast<double>(kMostGradientCopies) ? micro_batches : 1;
  if (processes == 1) return exchange;
  const double others = processes - 1;
  exchange.sent = sent_in_all(exchange, micro_batches, split) * others / processes;
  constexpr std::int64_t kNews = 2;  // the loss's weight, the micro-batches' numbers
  const auto bucket = bucket_bytes(exchange.gradient_bytes);
  const auto buckets = (exchange.gradient_bytes + bucket - 1) / bucket;
  exchange.rounds = kNews + buckets * (exchange.rows + 1);  // every row, then the sums
  if (split.shard != Shard::None) exchange.rounds += buckets;
  if (split.shard == Shard::Weights) exchange.rounds += 3 * split.blocks * micro_batches;
  exchange.ms = static_cast<double>(exchange.rounds) * others * link.latency_us * 1e-3 +
                exchange.sent / (link.gbytes_per_second * 1e9) * 1e3;
  return exchange;
}

double hidden_ms(double exchange_ms, double backward_ms, double overlap) {
  return std::min(exchange_ms, overlap * backward_ms);
}

}  // namespace ubique::plan
