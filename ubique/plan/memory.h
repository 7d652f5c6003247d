// SPDX-License-Identifier: Apache-2.0
// How much memory a model takes under a given way of running it, part by part. Pure arithmetic on
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
  std::int64_t workspace = 0;
  std::int64_t total = 0;
  std::int64_t budget = 0;
  bool fits = false;
};

/// The choices that memory depends on.
struct MemoryChoice {
  Mode mode = Mode::Train;
  device::Kind kind = device::Kind::Cpu;
  DType dtype = DType::F32;
  Attention attention = Attention::None;
  bool checkpointing = false;
  std::int64_t batch = 1;  ///< samples at once
  std::size_t level = 0;   ///< of the model's ways to checkpoint
};

/// What channels are padded to a multiple of: 8 where that lets tensor cores take the convolutions,
/// else 1. A choice of the plan that memory depends on.
std::int64_t channel_multiple(const Needs& needs, device::Kind kind, DType dtype);

/// `fits` compares what is required with the budget; vendor kernels that take more scratch space
/// when there is room (Needs::workspace_cuda) then get what is left, up to their wish.
MemoryParts predict_memory(const Needs& needs, const MemoryChoice& choice, std::int64_t budget);

bool is_half(DType dtype);  ///< fewer bytes than f32

/// Does this attention write its scores, one value for each pair of tokens, to memory?
bool writes_scores(device::Kind kind, Attention attention);

}  // namespace ubique::plan
