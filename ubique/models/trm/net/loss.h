// SPDX-License-Identifier: Apache-2.0
// How good an answer is: the loss it learns by and what people want to know of it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ubique/models/trm/net/config.h"
#include "ubique/models/trm/net/network.h"

namespace ubique::trm {

constexpr std::int64_t kIgnored = -100;  ///< a label that says nothing

/// One value for every sample (B). The first two have gradients; all f32 (f64 for f64) but `exact`.
struct Judgement {
  at::Tensor tokens;    ///< cross entropy, mean over the sample's labels
  at::Tensor halt;      ///< of the wish to halt, against "all is right"
  at::Tensor accuracy;  ///< share of labels that are right
  at::Tensor exact;     ///< are all? bool; true where there is no label, as the original has it
  at::Tensor labelled;  ///< has it labels at all? bool
  at::Tensor halts;     ///< does it want to? bool

  /// What the original minimises, summed over the samples: tokens + halt / 2.
  at::Tensor total() const { return tokens.sum() + 0.5 * halt.sum(); }
};

/// Labels (B, S), any integer; kIgnored ones count nowhere.
Judgement judge(const Answer& answer, const at::Tensor& labels, LossForm form);

}  // namespace ubique::trm
