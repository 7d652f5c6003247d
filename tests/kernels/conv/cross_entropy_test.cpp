// SPDX-License-Identifier: Apache-2.0
// The chunked cross entropy against torch's own.
#include "ubique/kernels/conv/cross_entropy.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

using namespace ubique::kernels;

namespace {

struct CrossEntropyCase {
  at::Tensor logits, target, weights;
};

CrossEntropyCase make_case(std::int64_t classes, at::ScalarType dtype) {
  at::manual_seed(7);
  return {at::randn({2, classes, 3, 5, 7}, at::TensorOptions(at::kDouble)).to(dtype).mul_(2),
          at::randint(classes, {2, 3, 5, 7}, at::TensorOptions(at::kLong)),
          at::rand({classes}, at::TensorOptions(at::kDouble)) + 0.2};
}

struct LossAndGradient {
  at::Tensor loss, gradient;
};

template <typename Loss>
LossAndGradient differentiate(const at::Tensor& logits, const Loss& loss_of) {
  auto x = logits.detach().clone().requires_grad_();
  auto loss = loss_of(x);
  (loss * 3).backward();
  return {loss.detach(), x.grad()};
}

double difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

}  // namespace

TEST_CASE("cross entropy: loss and gradient are torch's, for any chunk size") {
  for (const std::int64_t classes : {2, 3, 18}) {
    const auto given = make_case(classes, at::kDouble);
    for (const double smoothing : {0.0, 0.01, 0.3}) {
      const auto expected = differentiate(given.logits, [&](const at::Tensor& x) {
        return at::cross_entropy_loss(x, given.target, given.weights, at::Reduction::Mean, -100,
                                      smoothing);
      });
      for (const std::int64_t chunk : {1 << 20, 105, 16, 1}) {
        const auto ours = differentiate(given.logits, [&](const at::Tensor& x) {
          return weighted_cross_entropy(x, given.target, given.weights, {smoothing, chunk});
        });
        INFO(classes << " classes, smoothing " << smoothing << ", chunks of " << chunk);
        CHECK(difference(ours.loss, expected.loss) < 1e-12);
        CHECK(difference(ours.gradient, expected.gradient) < 1e-12);
      }
    }
  }
}

TEST_CASE("cross entropy: channels-last logits and u8 targets need no copy and give the same") {
  const auto given = make_case(3, at::kDouble);
  const auto plain = differentiate(given.logits, [&](const at::Tensor& x) {
    return weighted_cross_entropy(x, given.target, given.weights, {0.1, 20});
  });
  const auto last = given.logits.contiguous(at::MemoryFormat::ChannelsLast3d);
  const auto other = differentiate(last, [&](const at::Tensor& x) {
    return weighted_cross_entropy(x, given.target.to(at::kByte), given.weights, {0.1, 20});
  });
  CHECK(difference(other.loss, plain.loss) < 1e-12);
  CHECK(difference(other.gradient, plain.gradient) < 1e-12);
  CHECK(other.gradient.is_contiguous(at::MemoryFormat::ChannelsLast3d));
  const auto odd = given.logits.transpose(2, 4).contiguous().transpose(2, 4);
  const auto third = differentiate(odd, [&](const at::Tensor& x) {
    return weighted_cross_entropy(x, given.target, given.weights, {0.1, 20});
  });
  CHECK(difference(third.gradient, plain.gradient) < 1e-12);
}

TEST_CASE("cross entropy: half-precision logits are computed in f32") {
  const auto given = make_case(3, at::kDouble);
  const auto half = given.logits.to(at::kHalf);
  const auto exact = differentiate(half.to(at::kDouble), [&](const at::Tensor& x) {
    return weighted_cross_entropy(x, given.target, given.weights, {0.01, 50});
  });
  const auto ours = differentiate(half, [&](const at::Tensor& x) {
    return weighted_cross_entropy(x, given.target, given.weights.to(at::kFloat), {0.01, 50});
  });
  CHECK((ours.loss.scalar_type() == at::kFloat));
  CHECK((ours.gradient.scalar_type() == at::kHalf));
  CHECK(difference(ours.loss, exact.loss) < 1e-6);
  CHECK(difference(ours.gradient, exact.gradient) < 1e-4);
}

TEST_CASE("cross entropy: large logits stay finite") {
  auto given = make_case(2, at::kFloat);
  const auto ours = differentiate(given.logits * 1e4, [&](const at::Tensor& x) {
    return weighted_cross_entropy(x, given.target, given.weights.to(at::kFloat), {0.01, 50});
  });
  CHECK(ours.loss.isfinite().item<bool>());
  CHECK(ours.gradient.isfinite().all().item<bool>());
}

TEST_CASE("cross entropy: weights of zero give a loss of zero, not NaN") {
  const auto given = make_case(2, at::kDouble);
  const auto ours = differentiate(given.logits, [&](const at::Tensor& x) {
    return weighted_cross_entropy(x, at::zeros_like(given.target),
                                  at::tensor({0.0, 1.0}, at::TensorOptions(at::kDouble)),
                                  {0.0, 50});
  });
  CHECK(ours.loss.item<double>() == 0);
  CHECK(ours.gradient.abs().max().item<double>() == 0);
}

TEST_CASE("cross entropy: without gradients nothing is recorded") {
  const auto given = make_case(2, at::kDouble);
  const auto loss = weighted_cross_entropy(given.logits, given.target, given.weights, {});
  CHECK_FALSE(loss.requires_grad());
}
