// SPDX-License-Identifier: Apache-2.0
// The loss and its gradients, piece by piece, as one autograd node.
#include "ubique/nn/layers/token_loss.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/kernels/decoder/token_gradient.h"
#include "ubique/kernels/decoder/wide_product.h"
#include "ubique/kernels/dispatch/autograd.h"

namespace ubique::nn {
namespace {

/// Logits of one piece: 128 MB in f32, of which plain ops make some copies, or 256 MB in half
/// precision where a kernel turns them into their gradient in place.
constexpr std::int64_t kLogitsAtOnce = std::int64_t{1} << 25;
constexpr std::int64_t kLogitsInPlace = std::int64_t{1} << 27;

std::int64_t rows_at_once(const at::Tensor& head) {
  const bool in_place = kernels::does_token_gradient(at::empty({1, head.size(0)}, head.options()));
  const auto most = (in_place ? kLogitsInPlace : kLogitsAtOnce) / head.size(0);
  // A power of two, as most batches are: else a few rows remain for a piece of their own.
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, most))));
}

struct HeadGradients {
  at::Tensor hidden, head, bias;  // undefined if not wanted
};

class TokenLossNode final : public torch::autograd::Node {
 public:
  explicit TokenLossNode(HeadGradients gradients) : gradients_(std::move(gradients)) {}
  std::string name() const override { return "ubique::TokenLoss"; }
  void release_variables() override { gradients_ = {}; }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& incoming) override {
    const kernels::PlainTensors plain;
    auto mine = std::exchange(gradients_, {});
    check(mine.hidden.defined() || mine.head.defined() || mine.bias.defined(), ErrorKind::Internal,
          "[nn.token_loss] the backward pass runs a second time; its gradients are used up.");
    const auto scale = [&](const at::Tensor& gradient) {  // in place: the head is large
      if (!gradient.defined()) return;
      at::_foreach_mul_(at::TensorList{gradient}, incoming[0].to(gradient.scalar_type()));
    };
    scale(mine.hidden), scale(mine.head), scale(mine.bias);
    return {mine.hidden, mine.head, mine.bias};
  }

  HeadGradients gradients_;
};

/// The operands in the dtype of the product; the weights are cast once for all pieces.
struct Operands {
  at::Tensor head, bias;
};

/// Softmax minus one at the label, 0 in rows without a label: (n, V) f32, in place of `logits`.
at::Tensor logit_gradient(const at::Tensor& log_probabilities, const at::Tensor& target,
                          const at::Tensor& counts) {
  auto gradient = log_probabilities.exp_();
  gradient.scatter_add_(1, target, at::full_like(target, -1, gradient.options()));
  return gradient.mul_(counts.unsqueeze(1));
}

class Pieces {
 public:
  Pieces(const at::Tensor& hidden, const at::Tensor& labels, Operands operands,
         HeadGradients& gradients)
      : hidden_(hidden), labels_(labels), operands_(std::move(operands)), gradients_(gradients) {}

  /// Adds the piece's loss and gradients.
  void add(std::int64_t first, std::int64_t count, TokenLoss& loss) {
    const auto x =
        hidden_.slice(0, first, first + count).to(operands_.head.scalar_type());  // (n, H)
    const auto labels = labels_.slice(0, first, first + count);                   // (n)
    const auto product = at::linear(x, operands_.head, operands_.bias);           // (n, V)
    if (kernels::does_token_gradient(product)) {
      const auto [losses, right] = kernels::token_gradient_(product, labels, wants_gradients());
      loss.sum += losses.sum();
      loss.correct += right.sum();
      if (wants_gradients()) add_gradients(first, x, product);
      return;
    }
    const auto counts = labels.ne(kIgnoredToken).to(at::kFloat);  // (n)
    const auto target = labels.clamp_min(0).unsqueeze(1);         // (n, 1)
    const auto logits = product.to(at::kFloat);
    loss.correct += (logits.argmax(1).eq(labels)).to(at::kFloat).sum();
    auto log_probabilities = at::log_softmax(logits, 1);
    loss.sum -= (log_probabilities.gather(1, target).squeeze(1) * counts).sum();
    if (wants_gradients())
      add_gradients(first, x, logit_gradient(log_probabilities, target, counts));
  }

 private:
  bool wants_gradients() const {
    return gradients_.hidden.defined() || gradients_.head.defined() || gradients_.bias.defined();
  }

  /// `of_logits` (n, V) is that of the rows from `first` on, x (n, H).
  void add_gradients(std::int64_t first, const at::Tensor& x, const at::Tensor& of_logits) {
    const auto gradient = of_logits.to(x.scalar_type());
    if (gradients_.hidden.defined()) {
      auto rows = gradients_.hidden.slice(0, first, first + x.size(0));
      if (rows.scalar_type() == x.scalar_type()) {
        at::mm_out(rows, gradient, operands_.head);
      } else {
        rows.copy_(at::mm(gradient, operands_.head));
      }
    }
    if (gradients_.head.defined()) kernels::add_product_(gradients_.head, gradient.t(), x);
    if (gradients_.bias.defined()) gradients_.bias += of_logits.sum(0, false, at::kFloat);
  }

  const at::Tensor& hidden_;
  const at::Tensor& labels_;
  Operands operands_;
  HeadGradients& gradients_;
};

at::Tensor zeros_if_wanted(const at::Tensor& like) {
  return kernels::wants_gradient(like) ? at::zeros_like(like.detach()) : at::Tensor();
}

}  // namespace

TokenLoss token_loss(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& head_bias,
                     const at::Tensor& labels, at::ScalarType dtype) {
  HeadGradients gradients{zeros_if_wanted(hidden), zeros_if_wanted(head),
                          zeros_if_wanted(head_bias)};
  const bool with_gradient =
      gradients.hidden.defined() || gradients.head.defined() || gradients.bias.defined();
  TokenLoss loss;
  {
    const kernels::PlainTensors plain;
    const auto f32 = hidden.options().dtype(at::kFloat);
    loss = {at::zeros({}, f32), at::zeros({}, f32)};
    const auto bias = head_bias.defined() ? head_bias.to(dtype) : at::Tensor();
    const auto narrow = head.detach().to(dtype);
    Pieces pieces(hidden, labels, {narrow, bias}, gradients);
    const auto at_once = rows_at_once(narrow);
    for (std::int64_t first = 0; first < hidden.size(0); first += at_once) {
      pieces.add(first, std::min(at_once, hidden.size(0) - first), loss);
    }
  }
  if (with_gradient) {
    kernels::attach(loss.sum, std::make_shared<TokenLossNode>(std::move(gradients)),
                    {hidden, head, head_bias});
  }
  return loss;
}

}  // namespace ubique::nn
