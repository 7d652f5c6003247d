// SPDX-License-Identifier: Apache-2.0
// Predicts the memory that a model takes under given choices, part by part. Pure arithmetic on
// needs; the formulas are in docs/reference/plan.md.
#pragma once

#include <cstdint>

#include "ubique/base/numbers/dtype.h"
#include "ubique/device/facts.h"
#include "ubique/plan/needs.h"
#include "ubique/plan/wishes.h"

namespace ubique::plan {

/// Peak bytes by part. `workspace` holds input batches, temporaries and the kernels' scratch space.
struct MemoryParts {
  std::int64_t weights = 0;
  std::int64_t gradients = 0;
  std::int64_t optimizer = 0;
  std::int64_t activations = 0;
  std::int64_t kv_cache = 0;  ///< in inference
  std::int64_t workspace = 0;
  std::int64_t total = 0;
  std::int64_t budget = 0;
  bool fits = false;
};

/// The choices of a plan that memory depends on.
struct MemoryChoice {
  Mode mode = Mode::Train;
  device::Kind kind = device::Kind::Cpu;
  DType dtype = DType::F32;
  Attention attention = Attention::None;
  bool checkpointing = false;
  std::int64_t batch = 1;  ///< samples at once
  std::size_t level = 0;   ///< index into CheckpointingNeed::all()
  bool in_turn = false;    ///< the weights of one stage in memory at a time (Needs::stages)
  Shard shard = Shard::None;
  int processes = 1;  ///< of a training, among which that is split
};

/// Channels are padded to a multiple of this: 8 where tensor cores can then run the convolutions,
/// else 1.
std::int64_t channel_multiple(const Needs& needs, device::Kind kind, DType dtype);

/// `fits` compares the required bytes with the budget. Vendor kernels that use more scratch space
/// when there is room (Needs::workspace_cuda) then get the rest, up to that amount.
MemoryParts predict_memory(const Needs& needs, const MemoryChoice& choice, std::int64_t budget);

bool is_half(DType dtype);  ///< fewer bytes than f32

/// Does this attention write its scores, one value for each pair of tokens, to memory?
bool writes_scores(device::Kind kind, Attention attention);

}  // namespace ubique::plan
