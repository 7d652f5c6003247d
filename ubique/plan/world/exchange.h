// SPDX-License-Identifier: Apache-2.0
// What an update of several processes sends, and how long that takes.
#pragma once

#include <cstdint>

#include "ubique/plan/wishes.h"
#include "ubique/plan/world/interconnect.h"

namespace ubique::plan {

/// Gradients of single micro-batches are kept apart, to be added up in the order of one process,
/// while their copies on a rank take no more than this.
inline constexpr std::int64_t kMostGradientCopies = std::int64_t{1} << 30;

/// Bytes of gradients that are exchanged at once.
std::int64_t bucket_bytes(std::int64_t gradient_bytes);

/// Share of the last micro-batch's backward pass during which gradients already travel: in about
/// eight buckets, of which the last leaves when the pass is over.
inline constexpr double kOverlap = 7.0 / 8;

struct Exchange {
  std::int64_t gradient_bytes = 0;  ///< of one micro-batch
  std::int64_t rows = 1;            ///< copies of the gradients that a rank sends parts of
  double sent = 0;                  ///< bytes that a rank sends in an update; it receives as many
  std::int64_t rounds = 0;          ///< of messages, in each of which a rank writes to all others
  double ms = 0;
};

/// What is split, and the blocks of which all weights are gathered for each pass.
struct Split {
  Shard shard = Shard::None;
  double block_bytes = 0;          ///< of all blocks' weights
  std::int64_t block_numbers = 0;  ///< trained ones in blocks
  std::int64_t blocks = 0;
};

/// Of `parameters` trained numbers in f32, `micro_batches` on each of so many processes.
Exchange predict_exchange(std::int64_t parameters, std::int64_t micro_batches, int processes,
                          const Interconnect& link, const Split& split = {});

/// Milliseconds of an exchange that pass behind a backward pass of so many.
double hidden_ms(double exchange_ms, double backward_ms, double overlap);

}  // namespace ubique::plan
