// SPDX-License-Identifier: Apache-2.0
// LoRA: no change at first, gradients for the pair alone, merging.
#include "ubique/nn/layers/linear.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <doctest/doctest.h>

#include <cmath>

#include "tests/base/scratch.h"
#include "tests/tensors.h"

using namespace ubique;
using test::distance;
using test::random_tensor;

namespace {

constexpr std::int64_t kOut = 10, kIn = 6;

/// An adapter whose B is not zero any more.
nn::Lora trained_lora(const at::Tensor& weight, const nn::LoraOptions& options) {
  auto lora = nn::make_lora(weight, options, Random(7));
  const at::NoGradGuard no_gradients;
  lora.b.copy_(random_tensor(lora.b.sizes(), 8));
  return lora;
}

}  // namespace

TEST_CASE("lora: a fresh adapter changes nothing") {
  const auto weight = random_tensor({kOut, kIn}, 1), bias = random_tensor({kOut}, 2);
  const auto x = random_tensor({3, 4, kIn}, 3);
  const auto lora = nn::make_lora(weight, {.rank = 2}, Random(7));
  CHECK((lora.a.sizes() == at::IntArrayRef({2, kIn})));
  CHECK((lora.b.sizes() == at::IntArrayRef({kOut, 2})));
  CHECK(lora.b.eq(0).all().item<bool>());
  CHECK(at::equal(nn::linear(x, {weight, bias, {lora}}, true), at::linear(x, weight, bias)));
  CHECK(at::equal(nn::merged_weight(weight, lora), weight));
}

TEST_CASE("lora: A is Kaiming-uniform and the same for a seed") {
  const auto weight = at::zeros({4, 400});
  const auto lora = nn::make_lora(weight, {.rank = 50}, Random(7));
  const double bound = 1 / std::sqrt(400.0);
  CHECK(lora.a.abs().max().item<double>() <= bound);
  CHECK(lora.a.std().item<double>() == doctest::Approx(bound / std::sqrt(3.0)).epsilon(0.02));
  CHECK(std::abs(lora.a.mean().item<double>()) < bound / 50);
  CHECK(at::equal(lora.a, nn::make_lora(weight, {.rank = 50}, Random(7)).a));
  CHECK_FALSE(at::equal(lora.a, nn::make_lora(weight, {.rank = 50}, Random(8)).a));
}

TEST_CASE("lora: the layer is x·Wᵀ + (alpha / rank)·(x·Aᵀ)·Bᵀ") {
  const auto weight = random_tensor({kOut, kIn}, 1);
  const auto x = random_tensor({3, 4, kIn}, 3);
  const auto lora = trained_lora(weight, {.rank = 2, .alpha = 5});
  const auto expected = at::matmul(x, weight.t()) +
                        2.5 * at::matmul(at::matmul(x, lora.a.detach().t()), lora.b.detach().t());
  CHECK(distance(nn::linear(x, {weight, {}, {lora}}, false), expected) < 1e-5);
}

TEST_CASE("lora: gradients reach A, B and the input, never the frozen weight") {
  auto weight = random_tensor({kOut, kIn}, 1).requires_grad_(true);
  auto x = random_tensor({4, kIn}, 3).requires_grad_(true);
  const auto fresh = nn::make_lora(weight, {.rank = 2}, Random(7));
  nn::linear(x, {weight, {}, {fresh}}, true).square().sum().backward();
  CHECK(fresh.a.grad().eq(0).all().item<bool>());  // B is zero still
  CHECK(fresh.b.grad().abs().max().item<double>() > 0);
  const auto lora = trained_lora(weight, {.rank = 2});
  x.mutable_grad() = at::Tensor();
  nn::linear(x, {weight, {}, {lora}}, true).square().sum().backward();
  CHECK(lora.a.grad().abs().max().item<double>() > 0);
  CHECK(lora.b.grad().abs().max().item<double>() > 0);
  CHECK(x.grad().abs().max().item<double>() > 0);
  CHECK_FALSE(weight.grad().defined());
}

TEST_CASE("lora: gradients are f32 where the layer computes in bf16") {
  const auto weight = random_tensor({kOut, kIn}, 1).to(at::kBFloat16);
  const auto x = random_tensor({4, kIn}, 3).to(at::kBFloat16);
  const auto lora = trained_lora(weight, {.rank = 2});
  const auto y = nn::linear(x, {weight, {}, {lora}}, true);
  CHECK((y.scalar_type() == at::kBFloat16));
  y.sum().backward();
  CHECK((lora.a.grad().scalar_type() == at::kFloat));
}

TEST_CASE("lora: the merged weight computes what the pair beside the weight computes") {
  const auto weight = random_tensor({kOut, kIn}, 1), bias = random_tensor({kOut}, 2);
  const auto x = random_tensor({3, kIn}, 3);
  const auto lora = trained_lora(weight, {.rank = 3, .alpha = 6, .dropout = 0.5});
  const auto merged = nn::merged_weight(weight, lora);
  CHECK_FALSE(merged.requires_grad());
  CHECK(distance(at::linear(x, merged, bias), nn::linear(x, {weight, bias, {lora}}, false)) < 1e-5);
  CHECK(distance(merged, weight) > 0.1);
}

TEST_CASE("lora: merging and unmerging come back to the weight, up to rounding") {
  const auto weight = random_tensor({kOut, kIn}, 1);
  const auto lora = trained_lora(weight, {.rank = 3});
  const auto back = nn::unmerged_weight(nn::merged_weight(weight, lora), lora);
  CHECK(distance(back, weight) < 1e-5);
  const auto narrow = weight.to(at::kBFloat16);
  const auto narrow_merged = nn::merged_weight(narrow, lora);
  CHECK((narrow_merged.scalar_type() == at::kBFloat16));
  CHECK(distance(nn::unmerged_weight(narrow_merged, lora), narrow) < 0.1);
}

TEST_CASE("lora: dropout changes the adapter's part in training only") {
  const auto weight = random_tensor({kOut, kIn}, 1);
  const auto x = random_tensor({64, kIn}, 3);
  const auto lora = trained_lora(weight, {.rank = 2, .dropout = 0.5});
  const auto plain = nn::linear(x, {weight, {}, {lora}}, false);
  CHECK(at::equal(plain, nn::linear(x, {weight, {}, {lora}}, false)));
  CHECK(distance(nn::linear(x, {weight, {}, {lora}}, true), plain) > 1e-3);
}

TEST_CASE("lora: values out of range and weights that are no matrices are refused") {
  const auto refused = [](const nn::LoraOptions& options) {
    return test::refusal_of(ErrorKind::Usage, [&] { nn::validate(options); });
  };
  CHECK(test::contains(refused({.rank = 0}), "rank is out of range; got 0"));
  CHECK(test::contains(refused({.alpha = 0}), "alpha"));
  CHECK(test::contains(refused({.dropout = 1}), "dropout"));
  CHECK(test::contains(test::refusal_of(ErrorKind::Usage,
                                        [] {
                                          (void)nn::make_lora(at::zeros({2, 3, 4}), {}, Random(1));
                                        }),
                       "got a weight of 3 dimensions"));
}
