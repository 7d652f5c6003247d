// SPDX-License-Identifier: Apache-2.0
// The nodes of a training step's products (wide_product.h, gelu_mlp.h, head_product.h) through fake
// CPU kernels that compute in plain ops: their gradients against autograd's, in f32 and bf16.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/kernels/decoder/fake_training_kernels.h"
#include "ubique/kernels/decoder/gelu_mlp.h"
#include "ubique/kernels/decoder/head_product.h"
#include "ubique/kernels/decoder/wide_product.h"

using namespace ubique::kernels;

using ubique::test::FakeTrainingKernels;

namespace {

at::Tensor leaf_of(const at::Tensor& values) { return values.detach().clone().requires_grad_(); }

/// Largest difference as a share of the largest expected value.
double share_off(const at::Tensor& got, const at::Tensor& expected) {
  const bool same_dtype = got.scalar_type() == expected.scalar_type();
  CHECK(same_dtype);
  return ((got - expected).abs().max() / expected.abs().max()).item<double>();
}

/// Inputs and weights as leaves, twice: for our node and for autograd.
struct Leaves {
  std::vector<at::Tensor> ours, plain;
  explicit Leaves(const std::vector<at::Tensor>& values) {
    for (const auto& each : values) {
      ours.push_back(leaf_of(each));
      plain.push_back(leaf_of(each));
    }
  }
  void check_gradients(double allowed) const {
    for (std::size_t i = 0; i < ours.size(); ++i) {
      CAPTURE(i);
      CHECK(share_off(ours[i].grad(), plain[i].grad()) < allowed);
    }
  }
};

/// A product in `dtype` whose weight is a leaf in f32.
at::Tensor plain_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return at::linear(x, weight.to(x.scalar_type()),
                    bias.defined() ? bias.to(x.scalar_type()) : bias);
}

constexpr at::ScalarType kDtypes[] = {at::kFloat, at::kBFloat16};
double allowed_for(at::ScalarType dtype) { return dtype == at::kFloat ? 1e-5 : 3e-2; }

}  // namespace

TEST_CASE("training kernels: right ones pass their checks, and none is there without a device") {
  const auto x = at::ones({2, 40}).to(at::kBFloat16), heads = at::ones({1, 2, 3, 8});
  CHECK_FALSE(does_wide_product(x));
  CHECK_FALSE(does_biased_gelu(x));
  CHECK_FALSE(does_join_qkv(heads));
  const FakeTrainingKernels kernels;
  CHECK(does_wide_product(x));
  CHECK(does_biased_gelu(x));
  CHECK(does_join_qkv(heads));
}

TEST_CASE("product_as and add_product_: f32 sums where the device keeps them, else rounded ones") {
  const auto a = at::randn({3, 5}).to(at::kBFloat16), b = at::randn({5, 4}).to(at::kBFloat16);
  const auto exact = at::mm(a.to(at::kFloat), b.to(at::kFloat));
  const auto sum = at::ones({3, 4});
  add_product_(sum, a, b);
  CHECK(share_off(sum, exact + 1) < 1e-2);
  const FakeTrainingKernels kernels;
  CHECK(at::equal(product_as(at::kFloat, a, b), exact));
  CHECK(at::equal(product_as(at::kBFloat16, a, b), at::mm(a, b)));
  sum.fill_(1);
  add_product_(sum, a, b);
  CHECK(at::equal(sum, exact + 1));
}

TEST_CASE("dense: gradients of input, weight and bias are autograd's") {
  at::manual_seed(1);
  const FakeTrainingKernels kernels;
  for (const auto dtype : kDtypes) {
    for (const bool biased : {true, false}) {
      std::vector<at::Tensor> values = {at::randn({2, 7, 16}).to(dtype), at::randn({24, 16})};
      if (biased) values.push_back(at::randn({24}));
      const Leaves leaves(values);
      const auto bias_of = [&](const auto& list) { return biased ? list[2] : at::Tensor(); };
      const auto& [ours, plain] = std::tie(leaves.ours, leaves.plain);
      const auto y = dense(ours[0], {ours[1], dtype}, bias_of(ours));
      const auto expected = plain_linear(plain[0], plain[1], bias_of(plain));
      CHECK(at::equal(y, expected));
      const auto incoming = at::randn(y.sizes()).to(dtype);
      y.backward(incoming);
      expected.backward(incoming);
      leaves.check_gradients(allowed_for(dtype));
    }
  }
  CHECK(FakeTrainingKernels::calls().products > 0);
}

TEST_CASE("gelu_mlp: gradients are autograd's, hidden values kept or computed again") {
  at::manual_seed(2);
  const FakeTrainingKernels kernels;
  for (const auto dtype : kDtypes) {
    for (const bool keep : {true, false}) {
      const Leaves leaves({at::randn({2, 7, 16}).to(dtype), at::randn({40, 16}) / 2,
                           at::randn({40}), at::randn({16, 40}) / 4});
      const auto &ours = leaves.ours, &plain = leaves.plain;
      const auto before = FakeTrainingKernels::calls().again;
      const auto y = gelu_mlp(ours[0], {{ours[1], dtype}, {ours[3], dtype}, ours[2], keep});
      const auto hidden = at::gelu(plain_linear(plain[0], plain[1], plain[2]), "tanh");
      const auto expected = plain_linear(hidden, plain[3], {});
      CHECK(share_off(y.detach(), expected.detach()) < allowed_for(dtype));
      const auto incoming = at::randn(y.sizes()).to(dtype);
      y.backward(incoming);
      expected.backward(incoming);
      leaves.check_gradients(allowed_for(dtype));
      CHECK(FakeTrainingKernels::calls().again - before == (keep ? 0 : 1));
    }
  }
}

TEST_CASE("head_product: gradients are autograd's, one of the parts unused too") {
  at::manual_seed(3);
  const FakeTrainingKernels kernels;
  for (const auto dtype : kDtypes) {
    for (const bool all : {true, false}) {
      const Leaves leaves({at::randn({2, 7, 16}).to(dtype), at::randn({40, 16}), at::randn({40})});
      const auto &ours = leaves.ours, &plain = leaves.plain;
      const auto heads = head_product(ours[0], {ours[1], dtype}, ours[2], {3, 1, 1});
      const auto product = plain_linear(plain[0], plain[1], plain[2]);
      const auto parts =
          product.unflatten(2, {5, 8}).transpose(1, 2).split_with_sizes({3, 1, 1}, 1);
      at::Tensor loss = at::zeros({}), expected = at::zeros({});
      for (std::size_t i = 0; i < (all ? 3 : 2); ++i) {
        CHECK(at::equal(heads[i], parts[i]));
        const auto incoming = at::randn(heads[i].sizes());
        loss = loss + (heads[i] * incoming).sum();
        expected = expected + (parts[i] * incoming).sum();
      }
      loss.backward();
      expected.backward();
      leaves.check_gradients(allowed_for(dtype));
    }
  }
}
