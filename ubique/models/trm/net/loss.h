// SPDX-License-Identifier: Apache-2.0
// Losses and metrics of an answer: cross entropy of the tokens, the halting loss, accuracy.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ubique/models/trm/net/config.h"
#include "ubique/models/trm/net/network.h"

namespace ubique::trm {

constexpr std::int64_t kIgnored = -100;  ///< a label that counts nowhere

/// One value per sample (B). The two losses have gradients. f32 (f64 for f64 logits) or bool.
struct AnswerScores {
  at::Tensor token_loss;  ///< cross entropy, mean over the sample's labels
  at::Tensor halt_loss;   ///< binary cross entropy of the halting logit against `exact`
  at::Tensor accuracy;    ///< share of the labels that are predicted
  at::Tensor exact;       ///< all labels predicted; true without labels, as in the original
  at::Tensor labelled;    ///< has at least one label
  at::Tensor wants_halt;  ///< the halting logit is at least 0

  /// What the original minimises, summed over the samples: token_loss + halt_loss / 2.
  at::Tensor total() const { return token_loss.sum() + 0.5 * halt_loss.sum(); }
};

/// Labels (B, S), any integer dtype; those that are kIgnored count nowhere.
AnswerScores score_answer(const Answer& answer, const at::Tensor& labels, LossForm form);

}  // namespace ubique::trm
