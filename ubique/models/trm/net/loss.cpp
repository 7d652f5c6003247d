// SPDX-License-Identifier: Apache-2.0
// Cross entropy per token, accuracy, and the loss of the halting head.
#include "ubique/models/trm/net/loss.h"

#include <ATen/ATen.h>

#include "ubique/kernels/mixer/stablemax.h"

namespace ubique::trm {
namespace {

/// (B, S), 0 where the label is ignored.
at::Tensor token_losses(const at::Tensor& logits, const at::Tensor& labels, LossForm form) {
  if (form == LossForm::Stablemax)
    return kernels::stablemax_cross_entropy(logits, labels, kIgnored);
  const auto wide =
      at::isReducedFloatingType(logits.scalar_type()) ? logits.to(at::kFloat) : logits;
  return at::cross_entropy_loss(wide.flatten(0, 1), labels.flatten().to(at::kLong), {},
                                at::Reduction::None, kIgnored)
      .view(labels.sizes());
}

}  // namespace

AnswerScores score_answer(const Answer& answer, const at::Tensor& labels, LossForm form) {
  AnswerScores scores;
  const auto losses = token_losses(answer.logits, labels, form);  // (B, S)
  const auto is_label = labels.ne(kIgnored);
  const auto count = is_label.sum(-1);  // (B)
  const auto divisor = count.clamp_min(1).to(losses.scalar_type());
  scores.token_loss = losses.sum(-1) / divisor;
  scores.labelled = count.gt(0);
  {
    const at::NoGradGuard no_gradients;
    const auto right = answer.logits.argmax(-1).eq(labels).logical_and_(is_label).sum(-1);  // (B)
    scores.accuracy = right.to(losses.scalar_type()) / divisor;
    scores.exact = right.eq(count);
    scores.wants_halt = answer.halt.select(1, 0).ge(0);
  }
  scores.halt_loss = at::binary_cross_entropy_with_logits(
      answer.halt.select(1, 0), scores.exact.to(at::kFloat), {}, {}, at::Reduction::None);
  return scores;
}

}  // namespace ubique::trm
