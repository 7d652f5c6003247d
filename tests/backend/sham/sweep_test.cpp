// SPDX-License-Identifier: Apache-2.0
// A sweep over single ops that models, losses and metrics may use: each must run on the pretend
// device, forward and backward, and agree exactly with the CPU.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <sstream>

#include "device.h"

using namespace ubique::test;

namespace {

using at::Tensor;
using Op = std::function<Tensor(const Tensor&)>;

Tensor classes(const Tensor& x) { return at::arange(4, x.options().dtype(at::kLong)); }
Tensor mask_of(const Tensor& x) { return x.detach() > 0; }
Tensor target(const Tensor& x) { return x.detach().flip(0); }

// x is (4, 6) and needs a gradient.
const std::map<std::string, Op> kDifferentiable = {
    {"activations",
     [](const Tensor& x) {
       return at::mish(at::softplus(x)) + at::hardswish(x) + at::leaky_relu(x) +
              at::log_sigmoid(x) + at::hardtanh(x) + at::softshrink(x) + at::selu(x) + at::celu(x);
     }},
    {"glu", [](const Tensor& x) { return at::glu(x, 1); }},
    {"prelu", [](const Tensor& x) { return at::prelu(x, at::full({1}, 0.2, x.options())); }},
    {"mse_loss", [](const Tensor& x) { return at::mse_loss(x, target(x)); }},
    {"smooth_l1", [](const Tensor& x) { return at::smooth_l1_loss(x, target(x)); }},
    {"huber", [](const Tensor& x) { return at::huber_loss(x, target(x)); }},
    {"bce",
     [](const Tensor& x) { return at::binary_cross_entropy_with_logits(x, target(x).sigmoid()); }},
    {"kl_div", [](const Tensor& x) { return at::kl_div(x.log_softmax(1), target(x).softmax(1)); }},
    {"nll_loss", [](const Tensor& x) { return at::nll_loss(x.log_softmax(1), classes(x)); }},
    {"cosine", [](const Tensor& x) { return at::cosine_similarity(x, target(x), 1); }},
    {"instance_norm",
     [](const Tensor& x) {
       return at::instance_norm(x.unsqueeze(0), {}, {}, {}, {}, true, 0.1, 1e-5, false);
     }},
    {"median", [](const Tensor& x) { return std::get<0>(x.median(1)); }},
    {"kthvalue", [](const Tensor& x) { return std::get<0>(x.kthvalue(2, 1)); }},
    {"cummax", [](const Tensor& x) { return std::get<0>(x.cummax(1)); }},
    {"cumprod", [](const Tensor& x) { return x.cumprod(1) + x.logcumsumexp(1); }},
    {"quantile", [](const Tensor& x) { return x.quantile(0.3, 1); }},
    {"masked_select", [](const Tensor& x) { return x.masked_select(mask_of(x)); }},
    {"index_add", [](const Tensor& x) { return x.index_add(0, classes(x), x * 2); }},
    {"index_copy", [](const Tensor& x) { return x.index_copy(0, classes(x).flip(0), x * 2); }},
    {"scatter_reduce",
     [](const Tensor& x) {
       return x.scatter_reduce(0, classes(x).remainder(2).unsqueeze(1).expand({4, 6}), x, "mean");
     }},
    {"take_along",
     [](const Tensor& x) { return x.take_along_dim(x.detach().argsort(int64_t{1}, false), 1); }},
    {"repeat",
     [](const Tensor& x) {
       return x.repeat({2, 1}) + x.repeat_interleave(2, 0);
     }},
    {"clamp", [](const Tensor& x) { return x.clamp(-0.5, 0.5) + at::maximum(x, target(x)); }},
    {"lerp",
     [](const Tensor& x) { return at::lerp(x, target(x), 0.3) + at::addcdiv(x, x, x.exp()); }},
    {"cdist", [](const Tensor& x) { return at::cdist(x, target(x)); }},
    {"inverse",
     [](const Tensor& x) { return at::linalg_inv(at::mm(x, x.t()) + at::eye(4, x.options())); }},
    {"cholesky",
     [](const Tensor& x) {
       return at::linalg_cholesky(at::mm(x, x.t()) + at::eye(4, x.options()));
     }},
    {"svd", [](const Tensor& x) { return std::get<1>(at::linalg_svd(x, false)); }},
    {"pixel_shuffle",
     [](const Tensor& x) {
       return at::pixel_shuffle(x.view({1, 4, 2, 3}), 2);
     }},
    {"upsample",
     [](const Tensor& x) {
       return at::upsample_bicubic2d(x.view({1, 1, 4, 6}), {7, 7}, false).sum() +
              at::upsample_nearest2d(x.view({1, 1, 4, 6}), {7, 7});
     }},
    {"grid_sample",
     [](const Tensor& x) {
       const auto grid = target(x).sigmoid().view({1, 3, 4, 2});
       return at::grid_sampler(x.view({1, 1, 4, 6}), grid, 0, 0, false);
     }},
    {"pools",
     [](const Tensor& x) {
       return at::max_pool1d(x.unsqueeze(0), 2) + at::avg_pool1d(x.unsqueeze(0), 2);
     }},
    {"padding",
     [](const Tensor& x) {
       return at::replication_pad1d(x.unsqueeze(0), {1, 2}) +
              at::reflection_pad1d(x.unsqueeze(0), {2, 1});
     }},
    {"im2col",
     [](const Tensor& x) {
       return at::im2col(x.view({1, 1, 4, 6}), {2, 2}, {1, 1}, {0, 0}, {1, 1});
     }},
    {"checkerboard", [](const Tensor& x) { return x.tril().triu(-1).diagonal().outer(x[0]); }},
};

// Without a gradient.
const std::map<std::string, Op> kPlain = {
    {"unique", [](const Tensor& x) { return std::get<0>(at::_unique2(x.round())); }},
    {"bincount", [](const Tensor& x) { return at::bincount(classes(x)); }},
    {"histc", [](const Tensor& x) { return at::histc(x, 5); }},
    {"searchsorted", [](const Tensor& x) { return at::searchsorted(x[0].msort(), x[1]); }},
    {"one_hot", [](const Tensor& x) { return at::one_hot(classes(x), 5); }},
    {"isin", [](const Tensor& x) { return at::isin(classes(x), classes(x) * 2); }},
    {"bits",
     [](const Tensor& x) {
       return (classes(x) & 1) | classes(x).bitwise_left_shift(2).bitwise_xor(3);
     }},
    {"finite", [](const Tensor& x) { return (x / 0).isfinite().logical_or(x.isnan()); }},
    {"nan_to_num", [](const Tensor& x) { return (x / 0).nan_to_num(); }},
    {"factories",
     [](const Tensor& x) {
       return at::linspace(0, 1, 6, x.options()) + at::logspace(0, 1, 6, 10, x.options()) +
              at::eye(6, x.options()) + at::full_like(x[0], 2);
     }},
    {"tril_indices",
     [](const Tensor& x) { return at::tril_indices(3, 3, 0, x.options().dtype(at::kLong)); }},
    {"meshgrid",
     [](const Tensor& x) {
       return at::meshgrid({x[0], x[1]}, "ij")[1];
     }},
    {"masked_scatter", [](const Tensor& x) { return x.masked_scatter(x > 0, x.flip(0)); }},
    {"index_fill", [](const Tensor& x) { return x.index_fill(0, classes(x).narrow(0, 0, 2), 3); }},
    {"divisions",
     [](const Tensor& x) { return x.remainder(0.7) + x.fmod(0.3) + x.floor_divide(0.2); }},
    {"casts",
     [](const Tensor& x) { return x.to(at::kHalf).to(at::kInt).to(at::kByte).to(at::kFloat); }},
    {"std_mean", [](const Tensor& x) { return std::get<0>(at::std_mean(x, 1)); }},
    {"all_any",
     [](const Tensor& x) {
       return at::stack({(x > -9).all(), (x > 9).any()});
     }},
    {"hamming", [](const Tensor& x) { return at::hamming_window(6, x.options()) * x; }},
    {"scaler",
     [](const Tensor& x) {
       std::vector<Tensor> gradients = {x.clone(), x / 0};
       auto found = at::zeros({1}, x.options());
       at::_amp_foreach_non_finite_check_and_unscale_(gradients, found,
                                                      at::full({1}, 0.5, x.options()));
       auto scale = at::full({1}, 8.0, x.options());
       auto growth = at::zeros({1}, x.options().dtype(at::kInt));
       at::_amp_update_scale_(scale, growth, found, 2, 0.5, 100);
       return at::cat({found, scale, gradients[0].flatten()});
     }},
};

Tensor run(const Op& op, const Tensor& input, bool with_gradient) {
  if (!with_gradient) return op(input).cpu();
  const auto leaf = input.clone().requires_grad_();
  const auto result = op(leaf);
  (result * result).sum().backward();
  return at::cat({result.detach().flatten().cpu(), leaf.grad().flatten().cpu()});
}

void sweep(const std::map<std::string, Op>& ops, bool with_gradient) {
  const auto device = sham_device();
  const auto input = values({4, 6}, 1);
  for (const auto& [name, op] : ops) {
    CAPTURE(name);
    Tensor there;
    const auto fault = error_of([&] { there = run(op, input.to(device), with_gradient); });
    CHECK(fault == "");
    if (fault.empty()) {
      CHECK(at::allclose(there.to(at::kDouble), run(op, input, with_gradient).to(at::kDouble), 1e-5,
                         1e-5, /*equal_nan=*/true));
    }
  }
}

}  // namespace

TEST_CASE("sham: differentiable ops of every kind run and agree with the CPU") {
  sweep(kDifferentiable, true);
}

TEST_CASE("sham: ops without gradients run and agree with the CPU") { sweep(kPlain, false); }

TEST_CASE("sham: an LSTM runs and agrees with the CPU") {
  const auto device = sham_device();
  const auto run_on = [](c10::Device where) {
    const std::vector<Tensor> weights = {values({20, 6}, 1).to(where), values({20, 5}, 2).to(where),
                                         values({20}, 3).to(where), values({20}, 4).to(where)};
    const auto state = at::zeros({1, 4, 5}, where);
    return std::get<0>(at::lstm(values({3, 4, 6}, 5).to(where), {state, state}, weights, true, 1,
                                0.0, false, false, false))
        .cpu();
  };
  CHECK(at::allclose(run_on(device), run_on(at::kCPU), 1e-5, 1e-6));
}

TEST_CASE("sham: every random op stays in its range") {
  const auto device = sham_device();
  const auto x = at::empty({1000}, device);
  CHECK(x.exponential_().min().item<float>() >= 0);
  CHECK(x.random_(3, 9).max().item<float>() <= 8);
  CHECK(x.geometric_(0.5).min().item<float>() >= 1);
  CHECK(at::rand_like(x).max().item<float>() < 1);
  CHECK(at::poisson(at::full_like(x, 2)).min().item<float>() >= 0);
  CHECK(std::abs(at::randn({1000}, device).mean().item<float>()) < 0.2F);
  CHECK(at::equal(std::get<0>(at::randperm(50, at::device(device)).sort()).cpu(), at::arange(50)));
}

TEST_CASE("sham: tensors print as on the CPU, with their own device") {
  std::ostringstream text;
  text << at::ones({2}, sham_device());
  CHECK(text.str().find("MPSFloatType{2}") != std::string::npos);
}
