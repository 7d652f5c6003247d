// SPDX-License-Identifier: Apache-2.0
// The autograd node around two products and ubique::biased_gelu.
#include "ubique/kernels/decoder/gelu_mlp.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include <memory>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/kernels/decoder/wide_product.h"
#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/find_op.h"
#include "ubique/kernels/dispatch/self_check.h"

namespace ubique::kernels {
namespace {

using OptionalBias = std::optional<at::Tensor>;

bool no_biased_gelu(const at::Tensor& /*x*/) { return false; }

bool has_gelu_kernel(const at::Tensor& x) {
  static const auto op = find_op<decltype(has_gelu_kernel)>("ubique::does_biased_gelu");
  return op.call(x);
}

at::Tensor biased_gelu(const at::Tensor& x, const OptionalBias& bias) {
  static const auto op = find_op<decltype(biased_gelu)>("ubique::biased_gelu");
  return op.call(x, bias);
}

/// `of_y` becomes the gradient of x, and with `again` x becomes GELU; the bias's gradient in f32.
at::Tensor biased_gelu_backward(const at::Tensor& of_y, const at::Tensor& x,
                                const OptionalBias& bias, bool again) {
  static const auto op = find_op<decltype(biased_gelu_backward)>("ubique::biased_gelu_backward");
  return op.call(of_y, x, bias, again);
}

OptionalBias if_given(const at::Tensor& bias) {
  return bias.defined() ? OptionalBias(bias.detach()) : std::nullopt;
}

/// Kernel and plain f32 ops over a row more than a turn, and columns that fill no tile.
std::vector<Trial> try_gelu(const at::Tensor& like) {
  const auto x = test_values({67, like.size(-1)}, like, 1) * 4;
  const auto bias = test_values({like.size(-1)}, like, 2).to(at::kFloat);
  const auto incoming = test_values(x.sizes(), like, 3);
  const at::AutoGradMode recorded(true);
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const auto leaf = x.to(at::kFloat).requires_grad_(), offset = bias.clone().requires_grad_();
  const auto expected = at::gelu(leaf + offset, "tanh");
  (expected * incoming.to(at::kFloat)).sum().backward();
  const PlainTensors plain;
  const auto y = biased_gelu(x, bias);
  const auto gradient = incoming.clone(), again = x.clone(), other = incoming.clone();
  const auto sums = biased_gelu_backward(gradient, again, bias, true);
  const auto alone = biased_gelu_backward(other, x, std::nullopt, false);
  const auto zero = x.to(at::kFloat).detach().requires_grad_();
  {
    const at::AutoGradMode second(true);
    (at::gelu(zero, "tanh") * incoming.to(at::kFloat)).sum().backward();
  }
  return trials_of({y, gradient, again, sums, other, alone},
                   {expected.detach(), leaf.grad(), expected.detach(), offset.grad(), zero.grad(),
                    zero.grad().sum(0)});
}

/// What the backward pass needs.
struct KeptMlp {
  at::Tensor x, inner, activated;  // (..., H), (n, I) without the bias, (n, I) or undefined
  GeluMlp layer;
};

class GeluMlpNode final : public torch::autograd::Node {
 public:
  explicit GeluMlpNode(KeptMlp kept) : kept_(std::move(kept)) {}
  std::string name() const override { return "ubique::GeluMlp"; }
  void release_variables() override { kept_ = {}; }

 private:
  /// Gradients of x, up, its bias and down.
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    if (!gradients[0].defined()) return {{}, {}, {}, {}};
    check(kept_.inner.defined(), ErrorKind::Internal,
          "[kernels.gelu_mlp] the backward pass runs a second time; its values are used up.");
    const auto incoming = gradients[0].flatten(0, -2);  // (n, H)
    const auto& layer = kept_.layer;
    auto inner = std::exchange(kept_.inner, {}), activated = std::exchange(kept_.activated, {});
    const bool again = !activated.defined();
    auto of_inner = at::mm(incoming, layer.down.value);  // (n, I)
    auto of_bias = biased_gelu_backward(of_inner, inner, if_given(layer.up_bias), again);
    if (again) activated = inner;
    at::Tensor of_x, of_up, of_down;
    if (task_should_compute_output(3)) {
      of_down = product_as(layer.down.parameter.scalar_type(), incoming.t(), activated);
    }
    inner = activated = at::Tensor();
    if (task_should_compute_output(1)) {
      of_up = product_as(layer.up.parameter.scalar_type(), of_inner.t(), kept_.x.flatten(0, -2));
    }
    if (task_should_compute_output(0)) {
      of_x = at::mm(of_inner, layer.up.value).view(kept_.x.sizes());
    }
    if (!layer.up_bias.defined()) return {of_x, of_up, {}, of_down};
    return {of_x, of_up, of_bias.to(layer.up_bias.scalar_type()), of_down};
  }

  KeptMlp kept_;
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_biased_gelu(Tensor x) -> bool");
  library.def("biased_gelu(Tensor x, Tensor? bias) -> Tensor");
  library.def(
      "biased_gelu_backward(Tensor(a!) of_y, Tensor(b!) x, Tensor? bias, bool again) -> Tensor");
  library.impl("does_biased_gelu", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_biased_gelu));
}

bool does_biased_gelu(const at::Tensor& x) {
  return has_gelu_kernel(x) && passes_self_check("biased GELU, width " + std::to_string(x.size(-1)),
                                                 x, [&] { return try_gelu(x); });
}

at::Tensor gelu_mlp(const at::Tensor& x, const GeluMlp& layer) {
  at::Tensor result;
  KeptMlp kept{x.detach(), {}, {}, layer};
  {
    const PlainTensors plain;
    kept.inner = at::mm(kept.x.flatten(0, -2), layer.up.value.t());
    kept.activated = biased_gelu(kept.inner, if_given(layer.up_bias));
    const auto flat = at::mm(kept.activated, layer.down.value.t());  // (n, H)
    result = flat.view(x.sizes());
    if (!layer.keep) kept.activated = at::Tensor();
  }
  if (wants_gradient(x) || layer.up.wants_gradient() || wants_gradient(layer.up_bias) ||
      layer.down.wants_gradient()) {
    attach(result, std::make_shared<GeluMlpNode>(std::move(kept)),
           {x, layer.up.parameter, layer.up_bias, layer.down.parameter});
  }
  return result;
}

}  // namespace ubique::kernels
