// SPDX-License-Identifier: Apache-2.0
// The autograd node around ubique::add_norm and ubique::add_norm_backward.
#include "ubique/kernels/decoder/add_norm.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <memory>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/find_op.h"
#include "ubique/kernels/dispatch/self_check.h"

namespace ubique::kernels {
namespace {

using Optional = std::optional<at::Tensor>;
using Three = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using Four = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

bool no_add_norm(const at::Tensor& /*residual*/, at::ScalarType /*dtype*/) { return false; }

bool has_norm_kernel(const at::Tensor& residual, at::ScalarType dtype) {
  static const auto op = find_op<decltype(has_norm_kernel)>("ubique::does_add_norm");
  return op.call(residual, dtype);
}

Optional if_defined(const at::Tensor& tensor) {
  return tensor.defined() ? Optional(tensor) : std::nullopt;
}

/// What the backward pass needs.
struct SavedNorm {
  at::Tensor sum, weight, statistics;  // (..., H), (H), (rows, 2): mean and inverse deviation
  bool center = true, added = true, biased = true;
};

class AddNorm final : public torch::autograd::Node {
 public:
  AddNorm(SavedNorm kept, at::ScalarType branch) : kept_(std::move(kept)), branch_(branch) {}
  std::string name() const override { return "ubique::AddNorm"; }
  void release_variables() override { kept_ = {}; }

 private:
  /// Gradients of residual, branch, weight and bias from those of the sum and of its norm.
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    const auto &of_sum = gradients[0], &of_norm = gradients[1];
    if (!of_norm.defined()) {
      return {of_sum, kept_.added ? of_sum.to(branch_) : at::Tensor(), {}, {}};
    }
    const bool weighs = task_should_compute_output(2) || task_should_compute_output(3);
    static const auto op =
        find_op<Four(const Optional&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                     const at::Tensor&, bool, bool, bool)>("ubique::add_norm_backward");
    auto [of_residual, of_branch, of_weight, of_bias] =
        op.call(if_defined(of_sum), of_norm.contiguous(), kept_.sum, kept_.weight, kept_.statistics,
                kept_.center, kept_.added, weighs);
    if (!kept_.biased) of_bias = at::Tensor();
    return {of_residual, kept_.added ? of_branch : at::Tensor(),
            weighs ? of_weight.to(kept_.weight.scalar_type()) : at::Tensor(),
            weighs && kept_.biased ? of_bias.to(kept_.weight.scalar_type()) : at::Tensor()};
  }

  SavedNorm kept_;
  at::ScalarType branch_;
};

/// The same in plain ops, for the comparison before the first use.
std::tuple<at::Tensor, at::Tensor> plain_add_norm(const at::Tensor& residual,
                                                  const at::Tensor& branch,
                                                  const at::Tensor& weight, const at::Tensor& bias,
                                                  const NormOptions& options) {
  const auto sum = residual + branch;
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
  const auto residual = leaf({5, width}, 1, like.scalar_type());
  const auto branch = leaf({5, width}, 2, dtype);
  const auto weight = leaf({width}, 3, at::kFloat), bias = leaf({width}, 4, at::kFloat);
  const NormOptions options{.center = center, .epsilon = 1e-5};
  const auto [sum, normed] = fused ? add_norm(residual, branch, weight, bias, dtype, options)
                                   : plain_add_norm(residual, branch, weight, bias, options);
  const auto loss =
      (sum.to(at::kFloat) * test_values(sum.sizes(), like, 5).to(at::kFloat)).sum() +
      (normed.to(at::kFloat) * test_values(sum.sizes(), like, 6).to(at::kFloat)).sum();
  loss.backward();
  return {sum.detach(),  normed.detach(), residual.grad(),
          branch.grad(), weight.grad(),   bias.grad()};
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
      "add_norm(Tensor residual, Tensor? branch, Tensor weight, Tensor? bias, ScalarType dtype, "
      "bool center, float epsilon) -> (Tensor, Tensor, Tensor)");
  library.def(
      "add_norm_backward(Tensor? of_sum, Tensor of_norm, Tensor sum, Tensor weight, "
      "Tensor statistics, bool center, bool added, bool weighs) -> (Tensor, Tensor, Tensor, "
      "Tensor)");
  library.impl("does_add_norm", c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(no_add_norm));
}

bool does_add_norm(const at::Tensor& residual, at::ScalarType dtype) {
  return has_norm_kernel(residual, dtype) && norm_passes(residual, dtype);
}

std::tuple<at::Tensor, at::Tensor> add_norm(const at::Tensor& residual, const at::Tensor& branch,
                                            const at::Tensor& weight, const at::Tensor& bias,
                                            at::ScalarType dtype, const NormOptions& options) {
  SavedNorm kept{{}, weight.detach(), {}, options.center, branch.defined(), bias.defined()};
  std::vector<at::Tensor> results(2);
  {
    const PlainTensors plain;
    static const auto op =
        find_op<Three(const at::Tensor&, const Optional&, const at::Tensor&, const Optional&,
                      at::ScalarType, bool, double)>("ubique::add_norm");
    std::tie(results[0], results[1], kept.statistics) = op.call(
        residual.detach(), if_defined(branch.defined() ? branch.detach() : branch), kept.weight,
        if_defined(bias.defined() ? bias.detach() : bias), dtype, options.center, options.epsilon);
    kept.sum = results[0].detach();
  }
  const auto wants = [](const at::Tensor& x) { return x.defined() && wants_gradient(x); };
  if (wants(residual) || wants(branch) || wants(weight) || wants(bias)) {
    const auto branch_dtype = branch.defined() ? branch.scalar_type() : dtype;
    attach(results, std::make_shared<AddNorm>(std::move(kept), branch_dtype),
           {residual, branch, weight, bias});
  }
  return {results[0], results[1]};
}

}  // namespace ubique::kernels
