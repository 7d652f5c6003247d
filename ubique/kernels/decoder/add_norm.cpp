// SPDX-License-Identifier: Apache-2.0
// The autograd node around ubique::add_norm and ubique::add_norm_backward.
#include "ubique/kernels/decoder/add_norm.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/find_op.h"
#include "ubique/kernels/dispatch/self_check.h"

namespace ubique::kernels {
namespace {

using Optional = std::optional<at::Tensor>;
using Three = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using Five = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

bool no_add_norm(const at::Tensor& /*residual*/, at::ScalarType /*dtype*/) { return false; }

bool has_norm_kernel(const at::Tensor& residual, at::ScalarType dtype) {
  static const auto op = find_op<decltype(has_norm_kernel)>("ubique::does_add_norm");
  return op.call(residual, dtype);
}

Optional if_defined(const at::Tensor& tensor) {
  return tensor.defined() ? Optional(tensor) : std::nullopt;
}

Optional detached(const at::Tensor& tensor) {
  return tensor.defined() ? Optional(tensor.detach()) : std::nullopt;
}

/// What the backward pass needs.
struct SavedNorm {
  at::Tensor sum, weight, statistics;  // (..., H), (H), (rows, 2): mean and inverse deviation
  bool center = true;
  std::optional<at::ScalarType> branch, branch_bias, bias;  // the dtypes of those there are
};

class AddNorm final : public torch::autograd::Node {
 public:
  explicit AddNorm(SavedNorm kept) : kept_(std::move(kept)) {}
  std::string name() const override { return "ubique::AddNorm"; }
  void release_variables() override { kept_ = {}; }

 private:
  /// Gradients of residual, branch, its bias, weight and bias from those of the sum and its norm.
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    const auto &of_sum = gradients[0], &of_norm = gradients[1];
    if (!of_norm.defined()) return of_sum_alone(of_sum);
    const bool offset = kept_.branch_bias && task_should_compute_output(2);
    const bool weighs = task_should_compute_output(3) || task_should_compute_output(4);
    static const auto op =
        find_op<Five(const Optional&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                     const at::Tensor&, bool, bool, bool, bool)>("ubique::add_norm_backward");
    const auto [of_residual, of_branch, of_weight, of_bias, of_offset] =
        op.call(if_defined(of_sum), of_norm.contiguous(), kept_.sum, kept_.weight, kept_.statistics,
                kept_.center, kept_.branch.has_value(), weighs, offset);
    const auto as = [](const at::Tensor& x, const std::optional<at::ScalarType>& dtype,
                       bool there) { return dtype && there ? x.to(*dtype) : at::Tensor(); };
    return {of_residual, as(of_branch, kept_.branch, true),
            as(of_offset, kept_.branch_bias, offset),
            as(of_weight, kept_.weight.scalar_type(), weighs), as(of_bias, kept_.bias, weighs)};
  }

  torch::autograd::variable_list of_sum_alone(const at::Tensor& of_sum) const {
    at::Tensor of_branch, of_offset;
    if (kept_.branch) of_branch = of_sum.to(*kept_.branch);
    if (kept_.branch_bias) {
      of_offset = of_sum.flatten(0, -2).sum(0, false, at::kFloat).to(*kept_.branch_bias);
    }
    return {of_sum, of_branch, of_offset, {}, {}};
  }

  SavedNorm kept_;
};

/// The same in plain ops, for the comparison before the first use.
std::tuple<at::Tensor, at::Tensor> plain_add_norm(const at::Tensor& residual, const Branch& branch,
                                                  const at::Tensor& weight, const at::Tensor& bias,
                                                  const NormOptions& options) {
  const auto sum = residual + (branch.value + branch.bias);
  const auto middle = options.center ? sum.mean(-1, true) : at::zeros_like(sum.narrow(-1, 0, 1));
  const auto deviation = sum - middle;
  const auto inverse = (deviation.square().mean(-1, true) + options.epsilon).rsqrt();
  return {sum, deviation * inverse * weight + bias};
}

/// Results and gradients for synthetic values, by the kernel or in plain f32 ops.
std::vector<at::Tensor> try_norm(const at::Tensor& like, at::ScalarType dtype, bool center,
                                 bool fused) {
  const at::AutoGradMode recorded(true);
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const auto width = like.size(-1);
  const auto leaf = [&](at::IntArrayRef shape, int seed, at::ScalarType stored) {
    const auto values = test_values(shape, like, seed).to(stored);
    return (fused ? values : values.to(at::kFloat)).detach().requires_grad_();
  };
  const auto residual = leaf({29, width}, 1, like.scalar_type());
  const Branch branch{leaf({29, width}, 2, dtype), leaf({width}, 7, at::kFloat)};
  const auto weight = leaf({width}, 3, at::kFloat), bias = leaf({width}, 4, at::kFloat);
  const NormOptions options{.center = center, .epsilon = 1e-5};
  const auto [sum, normed] = fused ? add_norm(residual, branch, weight, bias, dtype, options)
                                   : plain_add_norm(residual, branch, weight, bias, options);
  const auto loss =
      (sum.to(at::kFloat) * test_values(sum.sizes(), like, 5).to(at::kFloat)).sum() +
      (normed.to(at::kFloat) * test_values(sum.sizes(), like, 6).to(at::kFloat)).sum();
  loss.backward();
  return {sum.detach(),       normed.detach(), residual.grad(), branch.value.grad(),
          branch.bias.grad(), weight.grad(),   bias.grad()};
}

bool norm_passes(const at::Tensor& residual, at::ScalarType dtype) {
  const auto name = fmt::format("add_norm, width {}, {}", residual.size(-1), c10::toString(dtype));
  return passes_self_check(name, residual, [&] {
    std::vector<Trial> trials;
    for (const bool center : {true, false}) {
      const auto more = trials_of(try_norm(residual, dtype, center, true),
                                  try_norm(residual, dtype, center, false));
      trials.insert(trials.end(), more.begin(), more.end());
    }
    return trials;
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_add_norm(Tensor residual, ScalarType dtype) -> bool");
  library.def(
      "add_norm(Tensor residual, Tensor? branch, Tensor? branch_bias, Tensor weight, Tensor? bias, "
      "ScalarType dtype, bool center, float epsilon) -> (Tensor, Tensor, Tensor)");
  library.def(
      "add_norm_backward(Tensor? of_sum, Tensor of_norm, Tensor sum, Tensor weight, "
      "Tensor statistics, bool center, bool added, bool weighs, bool offset) -> (Tensor, Tensor, "
      "Tensor, Tensor, Tensor)");
  library.impl("does_add_norm", c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(no_add_norm));
}

bool does_add_norm(const at::Tensor& residual, at::ScalarType dtype) {
  return has_norm_kernel(residual, dtype) && norm_passes(residual, dtype);
}

std::tuple<at::Tensor, at::Tensor> add_norm(const at::Tensor& residual, const Branch& branch,
                                            const at::Tensor& weight, const at::Tensor& bias,
                                            at::ScalarType dtype, const NormOptions& options) {
  SavedNorm kept{{}, weight.detach(), {}, options.center};
  if (branch.value.defined()) kept.branch = branch.value.scalar_type();
  if (branch.bias.defined()) kept.branch_bias = branch.bias.scalar_type();
  if (bias.defined()) kept.bias = bias.scalar_type();
  std::vector<at::Tensor> results(2);
  {
    const PlainTensors plain;
    static const auto op =
        find_op<Three(const at::Tensor&, const Optional&, const Optional&, const at::Tensor&,
                      const Optional&, at::ScalarType, bool, double)>("ubique::add_norm");
    std::tie(results[0], results[1], kept.statistics) =
        op.call(residual.detach(), detached(branch.value), detached(branch.bias), kept.weight,
                detached(bias), dtype, options.center, options.epsilon);
    kept.sum = results[0].detach();
  }
  const std::vector<at::Tensor> inputs = {residual, branch.value, branch.bias, weight, bias};
  if (std::ranges::any_of(inputs, wants_gradient)) {
    attach(results, std::make_shared<AddNorm>(std::move(kept)), inputs);
  }
  return {results[0], results[1]};
}

}  // namespace ubique::kernels
