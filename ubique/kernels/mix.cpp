// SPDX-License-Identifier: Apache-2.0
#include "ubique/kernels/mix.h"

#include <ATen/ATen.h>

#include <memory>
#include <utility>

#include "ubique/kernels/autograd.h"
#include "ubique/kernels/fused_rows.h"

namespace ubique::kernels {
namespace {

/// One kind of mixing: its matrix products, around a gate and a norm that all kinds share.
struct Channels {
  static constexpr std::int64_t kNormDim = 2;
  static at::Tensor rows(const at::Tensor& x) { return x.flatten(0, 1); }  // (B·L, H)

  static at::Tensor widen(const at::Tensor& x, const at::Tensor& gate_up) {
    const auto wide = at::mm(rows(x), gate_up.t());         // (B·L, 2I)
    return wide.view({wide.size(0), 2, wide.size(1) / 2});  // (B·L, 2, I)
  }
  static at::Tensor narrow(const at::Tensor& gated, const at::Tensor& down, const at::Tensor& x) {
    return at::mm(gated, down.t()).view(x.sizes());
  }
  static at::Tensor narrow_gradient(const at::Tensor& of_sum, const at::Tensor& down) {
    return at::mm(rows(of_sum), down);  // (B·L, I)
  }
  static at::Tensor down_gradient(const at::Tensor& of_sum, const at::Tensor& gated) {
    return at::mm(rows(of_sum).t(), gated);  // (H, I)
  }
  static at::Tensor gate_up_gradient(const at::Tensor& of_wide, const at::Tensor& x) {
    return at::mm(of_wide.flatten(1).t(), rows(x));  // (2I, H)
  }
  /// Adds to the sum's gradient what comes back through the gate.
  static at::Tensor input_gradient(const at::Tensor& of_sum, const at::Tensor& of_wide,
                                   const at::Tensor& gate_up) {
    return at::addmm(rows(of_sum), of_wide.flatten(1), gate_up).view(of_sum.sizes());
  }
};

/// Every sample is a matrix (L, H) that the weights multiply from the left.
struct Tokens {
  static constexpr std::int64_t kNormDim = 1;
  static at::Tensor each(const at::Tensor& weight, const at::Tensor& x) {
    return weight.unsqueeze(0).expand({x.size(0), weight.size(0), weight.size(1)});
  }

  static at::Tensor widen(const at::Tensor& x, const at::Tensor& gate_up) {
    const auto wide = at::bmm(each(gate_up, x), x);                  // (B, 2I, H)
    return wide.view({x.size(0), 2, wide.numel() / x.size(0) / 2});  // (B, 2, I·H)
  }
  static at::Tensor by_sample(const at::Tensor& flat, const at::Tensor& x) {
    return flat.view({x.size(0), -1, x.size(2)});
  }
  static at::Tensor narrow(const at::Tensor& gated, const at::Tensor& down, const at::Tensor& x) {
    return at::bmm(each(down, x), by_sample(gated, x));  // (B, L, H)
  }
  static at::Tensor narrow_gradient(const at::Tensor& of_sum, const at::Tensor& down) {
    return at::bmm(each(down.t(), of_sum), of_sum).flatten(1);  // (B, I·H)
  }
  static at::Tensor down_gradient(const at::Tensor& of_sum, const at::Tensor& gated) {
    return at::bmm(of_sum, by_sample(gated, of_sum).transpose(1, 2)).sum(0);  // (L, I)
  }
  static at::Tensor gate_up_gradient(const at::Tensor& of_wide, const at::Tensor& x) {
    return at::bmm(by_sample(of_wide.flatten(1), x), x.transpose(1, 2)).sum(0);  // (2I, L)
  }
  static at::Tensor input_gradient(const at::Tensor& of_sum, const at::Tensor& of_wide,
                                   const at::Tensor& gate_up) {
    return at::baddbmm(of_sum, each(gate_up.t(), of_sum), by_sample(of_wide.flatten(1), of_sum));
  }
};

template <typename Kind>
class GatedMix final : public torch::autograd::Node {
 public:
  GatedMix(at::Tensor x, at::Tensor y, at::Tensor inverse, at::Tensor wide, GatedWeights weights)
      : x_(std::move(x)),
        y_(std::move(y)),
        inverse_(std::move(inverse)),
        wide_(std::move(wide)),
        weights_(std::move(weights)) {}
  std::string name() const override { return "ubique::GatedMix"; }
  void release_variables() override { x_ = y_ = inverse_ = wide_ = at::Tensor(); }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    if (!gradients[0].defined()) return {at::Tensor(), at::Tensor(), at::Tensor()};
    const auto of_sum =
        fused::post_norm_backward(gradients[0].contiguous(), y_, inverse_, Kind::kNormDim);
    gradients.clear();
    const auto& gate_up = weights_.gate_up;
    const auto& down = weights_.down;
    if (!wide_.defined()) wide_ = Kind::widen(x_, gate_up.value);
    auto [of_wide, gated] =
        fused::swiglu_backward(Kind::narrow_gradient(of_sum, down.value), std::exchange(wide_, {}));
    at::Tensor of_x, of_gate_up, of_down;
    if (task_should_compute_output(2)) {
      of_down = Kind::down_gradient(of_sum, gated).to(down.parameter.scalar_type());
    }
    gated = at::Tensor();
    if (task_should_compute_output(1)) {
      of_gate_up = Kind::gate_up_gradient(of_wide, x_).to(gate_up.parameter.scalar_type());
    }
    if (task_should_compute_output(0)) of_x = Kind::input_gradient(of_sum, of_wide, gate_up.value);
    return {of_x, of_gate_up, of_down};
  }

  at::Tensor x_, y_, inverse_, wide_;
  GatedWeights weights_;
};

template <typename Kind>
at::Tensor gated_mix(const at::Tensor& x, const GatedWeights& weights, Kept kept) {
  const bool learns =
      wants_gradient(x) || weights.gate_up.wants_gradient() || weights.down.wants_gradient();
  at::Tensor y, inverse, wide;
  {
    const PlainTensors plain;
    wide = Kind::widen(x, weights.gate_up.value);
    auto gated = fused::swiglu(wide);
    if (!learns || kept == Kept::Narrow) wide = at::Tensor();
    const auto branch = Kind::narrow(gated, weights.down.value, x);
    gated = at::Tensor();
    std::tie(y, inverse) = fused::post_norm(x, branch, Kind::kNormDim, kNormEpsilon);
  }
  if (learns) {
    attach(y, std::make_shared<GatedMix<Kind>>(x.detach(), y.detach(), inverse, wide, weights),
           {x, weights.gate_up.parameter, weights.down.parameter});
  }
  return y;
}

class PostNorm final : public torch::autograd::Node {
 public:
  PostNorm(at::Tensor y, at::Tensor inverse) : y_(std::move(y)), inverse_(std::move(inverse)) {}
  std::string name() const override { return "ubique::PostNorm"; }
  void release_variables() override { y_ = inverse_ = at::Tensor(); }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    if (!gradients[0].defined()) return {at::Tensor(), at::Tensor()};
    const auto of_sum = fused::post_norm_backward(gradients[0].contiguous(), y_, inverse_, 2);
    return {of_sum, of_sum};
  }
  at::Tensor y_, inverse_;
};

}  // namespace

at::Tensor channel_mix(const at::Tensor& x, const GatedWeights& weights, Kept kept) {
  return gated_mix<Channels>(x, weights, kept);
}

at::Tensor token_mix(const at::Tensor& x, const GatedWeights& weights, Kept kept) {
  return gated_mix<Tokens>(x, weights, kept);
}

at::Tensor post_norm(const at::Tensor& x, const at::Tensor& branch) {
  at::Tensor y, inverse;
  {
    const PlainTensors plain;
    std::tie(y, inverse) = fused::post_norm(x, branch, 2, kNormEpsilon);
  }
  if (wants_gradient(x) || wants_gradient(branch)) {
    attach(y, std::make_shared<PostNorm>(y.detach(), inverse), {x, branch});
  }
  return y;
}

}  // namespace ubique::kernels
