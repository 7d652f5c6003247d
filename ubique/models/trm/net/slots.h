// SPDX-License-Identifier: Apache-2.0
// Recurrent state of each slot. A slot holds one puzzle through several supervision steps; when it
// halts, the next step starts a new puzzle there. All of it is on the device, without host
// synchronisation.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/engine/contract/batch.h"
#include "ubique/models/trm/net/network.h"

namespace ubique::trm {

/// One puzzle per slot.
struct PuzzleBatch {
  at::Tensor inputs;  ///< (B, S) i32
  at::Tensor labels;  ///< (B, S) i32; undefined if there are no labels
  at::Tensor ids;     ///< (B) i32, rows of the puzzle table
};

struct Slots {
  Latents latents;
  PuzzleBatch puzzles;  ///< in the slots now
  at::Tensor steps;     ///< (B) i32, supervision steps so far
  at::Tensor halted;    ///< (B) bool: refill the slot at the next step

  /// All slots halted, so that the first step fills them; tensors are zero, on `device`.
  static Slots empty(const Trm& network, std::int64_t batch, at::ScalarType dtype,
                     c10::Device device, bool labelled);
  /// The tensors (not copies) with the names they have in a checkpoint.
  engine::NamedTensors named() const;

  /// Halted slots take their puzzle of `incoming` and start with initial latents.
  Slots refilled(const TrmWeights& weights, const PuzzleBatch& incoming) const;
  /// Counts a step that gave `answer` and sets `halted`. With `min_steps` (B) i32, the steps that
  /// exploration demands of each slot, a positive halting logit halts a slot as well; without it,
  /// only `max_steps` does.
  void count_step(const Answer& answer, std::int64_t max_steps, const at::Tensor& min_steps = {});
};

}  // namespace ubique::trm
