// SPDX-License-Identifier: Apache-2.0
// Forward and backward of stablemax cross entropy, and its autograd node.
#include "ubique/kernels/mixer/stablemax.h"

#include <ATen/ATen.h>

#include <memory>

#include "ubique/kernels/dispatch/autograd.h"

namespace ubique::kernels {
namespace {

at::Tensor stable_wide(const at::Tensor& x) {
  return at::isReducedFloatingType(x.scalar_type()) ? x.to(at::kFloat) : x;
}

/// 1 / (1 - x) below zero, else 1.
at::Tensor below_zero(const at::Tensor& x) { return (1 - x.clamp_max(0)).reciprocal_(); }
at::Tensor stable_s(const at::Tensor& x) { return at::where(x.lt(0), below_zero(x), x + 1); }
at::Tensor stable_log_s(const at::Tensor& x) { return at::sgn(x) * at::log1p(x.abs()); }

struct StableTerms {
  at::Tensor logits;      // (..., V)
  at::Tensor labels;      // (..., 1), ignored ones are 0
  at::Tensor is_ignored;  // (...)
};

at::Tensor stablemax_forward(const StableTerms& terms) {
  const auto x = stable_wide(terms.logits);
  const auto s = stable_s(x);
  const auto own = s.gather(-1, terms.labels).squeeze(-1);
  // Summed without the label's own term, so that a small loss loses no digits to it.
  const auto others = s.scatter(-1, terms.labels, 0).sum(-1);
  const auto far = (own + others).log() - stable_log_s(x.gather(-1, terms.labels).squeeze(-1));
  const auto loss = at::where(others.lt(own), at::log1p(others / own), far);
  return loss.masked_fill(terms.is_ignored, 0);
}

/// s'(x_k) / sum(s) for each k, minus s'(x_y) / s(x_y) at the label y.
at::Tensor stablemax_backward(const StableTerms& terms, const at::Tensor& gradient) {
  const auto x = stable_wide(terms.logits);
  const auto s = stable_s(x), below = below_zero(x);
  const auto slope = below.square();
  auto result = slope / s.sum(-1, true);
  const auto own = (slope / s).gather(-1, terms.labels);
  // At the label, written as a product: the difference would cancel when the label has nearly all.
  const auto others = s.scatter(-1, terms.labels, 0).sum(-1, true);
  const auto at_label = -own * (others / s.sum(-1, true));
  result.scatter_(-1, terms.labels, at_label);
  const auto share = gradient.masked_fill(terms.is_ignored, 0).unsqueeze(-1);
  return (result * share).to(terms.logits.scalar_type());
}

class Stablemax final : public torch::autograd::Node {
 public:
  explicit Stablemax(StableTerms terms) : terms_(std::move(terms)) {}
  std::string name() const override { return "ubique::Stablemax"; }
  void release_variables() override { terms_ = {}; }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    if (!gradients[0].defined()) return {at::Tensor()};
    return {stablemax_backward(terms_, gradients[0])};
  }
  StableTerms terms_;
};

}  // namespace

at::Tensor stablemax_cross_entropy(const at::Tensor& logits, const at::Tensor& labels,
                                   std::int64_t ignored) {
  at::Tensor loss;
  StableTerms terms;
  {
    const PlainTensors plain;
    const auto is_ignored = labels.eq(ignored);
    terms = {logits.detach(), labels.masked_fill(is_ignored, 0).to(at::kLong).unsqueeze(-1),
             is_ignored};
    loss = stablemax_forward(terms);
  }
  if (wants_gradient(logits)) {
    attach(loss, std::make_shared<Stablemax>(std::move(terms)), {logits});
  }
  return loss;
}

}  // namespace ubique::kernels
