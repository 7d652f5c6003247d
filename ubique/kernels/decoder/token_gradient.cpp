// SPDX-License-Identifier: Apache-2.0
// The ops that a device may provide, and their comparison with plain ops before the first use.
#include "ubique/kernels/decoder/token_gradient.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/find_op.h"
#include "ubique/kernels/dispatch/self_check.h"

namespace ubique::kernels {
namespace {

bool no_token_gradient(const at::Tensor& /*logits*/) { return false; }

bool has_token_kernel(const at::Tensor& logits) {
  static const auto op = find_op<decltype(has_token_kernel)>("ubique::does_token_gradient");
  return op.call(logits);
}

/// What the kernel computes, in f32: loss and correct per row, and the gradient.
std::vector<at::Tensor> plain_gradient(const at::Tensor& logits, const at::Tensor& labels) {
  const auto counts = labels.ge(0).to(at::kFloat);
  const auto target = labels.clamp_min(0).unsqueeze(1);
  const auto wide = logits.to(at::kFloat);
  const auto log_probabilities = at::log_softmax(wide, 1);
  const auto loss = -log_probabilities.gather(1, target).squeeze(1) * counts;
  const auto correct = wide.argmax(1).eq(labels).to(at::kFloat);
  auto gradient = log_probabilities.exp();
  gradient.scatter_add_(1, target, at::full_like(target, -1, gradient.options()));
  return {loss, correct, gradient * counts.unsqueeze(1)};
}

bool token_passes(const at::Tensor& logits) {
  const auto name = fmt::format("token_gradient, {} tokens", logits.size(1));
  return passes_self_check(name, logits, [&] {
    const PlainTensors plain;
    const auto tried = (test_values({3, logits.size(1)}, logits, 1) * 4).to(logits.scalar_type());
    // The first row is predicted right, without a tie: a column of zeros could not be compared.
    constexpr std::int64_t kRight = 7;
    tried[0][kRight].fill_(8);
    const auto labels =
        at::tensor({kRight, std::int64_t{-100}, logits.size(1) - 1}).to(logits.device());
    const auto expected = plain_gradient(tried, labels);
    const auto [loss, correct] = token_gradient_(tried, labels, true);
    return trials_of({loss, correct, tried}, expected);
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_token_gradient(Tensor logits) -> bool");
  library.def(
      "token_gradient_(Tensor(a!) logits, Tensor labels, bool gradient) -> (Tensor, Tensor)");
  library.impl("does_token_gradient", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_token_gradient));
}

bool does_token_gradient(const at::Tensor& logits) {
  return has_token_kernel(logits) && token_passes(logits);
}

std::tuple<at::Tensor, at::Tensor> token_gradient_(const at::Tensor& logits,
                                                   const at::Tensor& labels, bool gradient) {
  static const auto op = find_op<decltype(token_gradient_)>("ubique::token_gradient_");
  return op.call(logits, labels, gradient);
}

}  // namespace ubique::kernels
