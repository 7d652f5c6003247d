// SPDX-License-Identifier: Apache-2.0
// Puzzles in the middle of being thought about. A slot holds one puzzle through several supervision
// steps; when it halts, the next step puts a new puzzle there. All of it on the device: nobody
// waits for it.
#pragma once

#include <ATen/core/Tensor.h>

#include "ubique/engine/contract/batch.h"
#include "ubique/models/trm/net/network.h"

namespace ubique::trm {

/// Puzzles as they come in, one for every slot; only slots that halted take theirs.
struct Arrivals {
  at::Tensor inputs;  ///< (B, S) i32
  at::Tensor labels;  ///< (B, S) i32; undefined if nobody knows the answers
  at::Tensor ids;     ///< (B) i32, rows of the puzzle table
};

struct Slots {
  Latents latents;
  Arrivals puzzles;   ///< those being thought about
  at::Tensor steps;   ///< (B) i32, supervision steps so far
  at::Tensor halted;  ///< (B) bool: give it a new one

  /// All halted, so that the first step fills them; tensors are zero, on `device`.
  static Slots empty(const Trm& network, std::int64_t batch, at::ScalarType dtype,
                     c10::Device device, bool labelled);
  /// The tensors themselves under names, for a checkpoint.
  engine::NamedTensors named() const;

  /// New puzzles for halted slots, with fresh latents.
  Slots refilled(const TrmWeights& weights, const Arrivals& arrivals) const;
  /// After a step that came to `answer`: counts it, and says who halts. With `least` (B) i32, the
  /// steps that exploration demands of each slot, those that wish to halt do; without, only those
  /// that have had `most` steps.
  void count_step(const Answer& answer, std::int64_t most, const at::Tensor& least = {});
};

}  // namespace ubique::trm
