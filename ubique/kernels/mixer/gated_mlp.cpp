// SPDX-License-Identifier: Apache-2.0
// Two kinds of gated MLP sub-layer (over channels, over tokens) share one autograd node;
// token_mlp_block has a second one for devices that run the whole sub-layer in one kernel.
#include "ubique/kernels/mixer/gated_mlp.h"

#include <ATen/ATen.h>

#include <memory>
#include <utility>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/fused_mlp.h"
#include "ubique/kernels/mixer/gated_mlp_check.h"

namespace ubique::kernels {
namespace {

/// One multiprocessor handles 128 tokens; with fewer than this most would be idle.
constexpr std::int64_t kTokensForGate = 4096;

/// Along channels. Each kind provides its matrix products; the gate and the norm are shared.
struct Swiglu {
  static constexpr std::int64_t kNormDim = 2;
  static at::Tensor rows(const at::Tensor& x) { return x.flatten(0, 1); }  // (B·L, H)
  static bool are_many(const at::Tensor& x) { return x.size(0) * x.size(1) >= kTokensForGate; }

  static at::Tensor widen(const at::Tensor& x, const at::Tensor& gate_up) {
    const auto wide = at::mm(rows(x), gate_up.t());         // (B·L, 2I)
    return wide.view({wide.size(0), 2, wide.size(1) / 2});  // (B·L, 2, I)
  }
  /// silu(gate) · up (B·L, I), and with `keep` also the pre-activation (B·L, 2, I).
  static std::tuple<at::Tensor, at::Tensor> gate(const at::Tensor& x, const GatedWeights& weights,
                                                 bool keep) {
    if (weights.packed.defined() && are_many(x)) {
      return fused::channel_gate(rows(x).contiguous(), weights.packed, keep);
    }
    const auto wide = widen(x, weights.gate_up.value);
    return {fused::swiglu(wide), keep ? wide : at::Tensor()};
  }
  static at::Tensor narrow(const at::Tensor& gated, const at::Tensor& down, const at::Tensor& x) {
    return at::mm(gated, down.t()).view(x.sizes());
  }
  /// Gradient of the pre-activation, and the recomputed silu(gate) · up.
  static std::tuple<at::Tensor, at::Tensor> gate_gradient(const at::Tensor& of_sum,
                                                          const GatedWeights& weights,
                                                          const at::Tensor& wide) {
    if (weights.packed_back.defined() && are_many(of_sum)) {
      return fused::channel_gate_backward(rows(of_sum).contiguous(), weights.packed_back, wide);
    }
    return fused::swiglu_backward(at::mm(rows(of_sum), weights.down.value), wide);
  }
  static at::Tensor down_gradient(const at::Tensor& of_sum, const at::Tensor& gated) {
    return at::mm(rows(of_sum).t(), gated);  // (H, I)
  }
  static at::Tensor gate_up_gradient(const at::Tensor& of_wide, const at::Tensor& x) {
    return at::mm(of_wide.flatten(1).t(), rows(x));  // (2I, H)
  }
  /// Adds the branch's gradient to `of_sum`, the (contiguous) gradient of the residual sum.
  static void add_gradient(const at::Tensor& of_sum, const at::Tensor& of_wide,
                           const at::Tensor& gate_up) {
    of_sum.view({-1, of_sum.size(2)}).addmm_(of_wide.flatten(1), gate_up);
  }
};

/// Along tokens: the weights multiply each sample (L, H) from the left.
struct TokenMlp {
  static constexpr std::int64_t kNormDim = 1;
  static at::Tensor each(const at::Tensor& weight, const at::Tensor& x) {
    return weight.unsqueeze(0).expand({x.size(0), weight.size(0), weight.size(1)});
  }

  static at::Tensor widen(const at::Tensor& x, const at::Tensor& gate_up) {
    const auto wide = at::bmm(each(gate_up, x), x);                  // (B, 2I, H)
    return wide.view({x.size(0), 2, wide.numel() / x.size(0) / 2});  // (B, 2, I·H)
  }
  static std::tuple<at::Tensor, at::Tensor> gate(const at::Tensor& x, const GatedWeights& weights,
                                                 bool keep) {
    const auto wide = widen(x, weights.gate_up.value);
    return {fused::swiglu(wide), keep ? wide : at::Tensor()};
  }
  static at::Tensor by_sample(const at::Tensor& flat, const at::Tensor& x) {
    return flat.view({x.size(0), -1, x.size(2)});
  }
  static at::Tensor narrow(const at::Tensor& gated, const at::Tensor& down, const at::Tensor& x) {
    return at::bmm(each(down, x), by_sample(gated, x));  // (B, L, H)
  }
  static std::tuple<at::Tensor, at::Tensor> gate_gradient(const at::Tensor& of_sum,
                                                          const GatedWeights& weights,
                                                          const at::Tensor& wide) {
    const auto of_gated = at::bmm(each(weights.down.value.t(), of_sum), of_sum);  // (B, I, H)
    return fused::swiglu_backward(of_gated.flatten(1), wide);
  }
  static at::Tensor down_gradient(const at::Tensor& of_sum, const at::Tensor& gated) {
    return at::bmm(of_sum, by_sample(gated, of_sum).transpose(1, 2)).sum(0);  // (L, I)
  }
  static at::Tensor gate_up_gradient(const at::Tensor& of_wide, const at::Tensor& x) {
    return at::bmm(by_sample(of_wide.flatten(1), x), x.transpose(1, 2)).sum(0);  // (2I, L)
  }
  static void add_gradient(const at::Tensor& of_sum, const at::Tensor& of_wide,
                           const at::Tensor& gate_up) {
    of_sum.baddbmm_(each(gate_up.t(), of_sum), by_sample(of_wide.flatten(1), of_sum));
  }
};

template <typename Kind>
class GatedMlp final : public torch::autograd::Node {
 public:
  GatedMlp(at::Tensor x, at::Tensor y, at::Tensor inverse, at::Tensor wide, GatedWeights weights)
      : x_(std::move(x)),
        y_(std::move(y)),
        inverse_(std::move(inverse)),
        wide_(std::move(wide)),
        weights_(std::move(weights)) {}
  std::string name() const override { return "ubique::GatedMlp"; }
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
    auto [of_wide, gated] = Kind::gate_gradient(of_sum, weights_, std::exchange(wide_, {}));
    at::Tensor of_x, of_gate_up, of_down;
    if (task_should_compute_output(2)) {
      of_down = Kind::down_gradient(of_sum, gated).to(down.parameter.scalar_type());
    }
    gated = at::Tensor();
    if (task_should_compute_output(1)) {
      of_gate_up = Kind::gate_up_gradient(of_wide, x_).to(gate_up.parameter.scalar_type());
    }
    if (task_should_compute_output(0)) {
      Kind::add_gradient(of_sum, of_wide, gate_up.value);
      of_x = of_sum;
    }
    return {of_x, of_gate_up, of_down};
  }

  at::Tensor x_, y_, inverse_, wide_;
  GatedWeights weights_;
};

bool learns(const at::Tensor& x, const GatedWeights& weights) {
  return wants_gradient(x) || weights.gate_up.wants_gradient() || weights.down.wants_gradient();
}

template <typename Kind>
at::Tensor gated_mlp(const at::Tensor& x, const GatedWeights& weights, Activations activations) {
  const bool learning = learns(x, weights);
  at::Tensor y, inverse, wide;
  {
    const PlainTensors plain;
    at::Tensor gated;
    std::tie(gated, wide) = Kind::gate(x, weights, learning && activations == Activations::Keep);
    const auto branch = Kind::narrow(gated, weights.down.value, x);
    gated = at::Tensor();
    std::tie(y, inverse) = fused::post_norm(x, branch, Kind::kNormDim, kNormEpsilon);
  }
  if (learning) {
    attach(y, std::make_shared<GatedMlp<Kind>>(x.detach(), y.detach(), inverse, wide, weights),
           {x, weights.gate_up.parameter, weights.down.parameter});
  }
  return y;
}

/// token_mlp_block on a device with one kernel for the whole sub-layer.
class PackedTokenMlp final : public torch::autograd::Node {
 public:
  PackedTokenMlp(at::Tensor x, at::Tensor y, at::Tensor inverse, GatedWeights weights)
      : x_(std::move(x)),
        y_(std::move(y)),
        inverse_(std::move(inverse)),
        weights_(std::move(weights)) {}
  std::string name() const override { return "ubique::PackedTokenMlp"; }
  void release_variables() override { x_ = y_ = inverse_ = at::Tensor(); }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    if (!gradients[0].defined()) return {at::Tensor(), at::Tensor(), at::Tensor()};
    const auto of_sum = fused::post_norm_backward(gradients[0].contiguous(), y_, inverse_, 1);
    gradients.clear();
    const auto [of_x, of_wide, gated] = fused::token_mix_backward(of_sum, x_, weights_.packed_back);
    // Tokens last: the layout in which the products with x are aligned.
    at::Tensor of_gate_up, of_down;
    if (task_should_compute_output(1)) {
      of_gate_up = at::bmm(x_, of_wide.transpose(1, 2)).sum(0).t();  // (2I, L)
      of_gate_up = of_gate_up.to(weights_.gate_up.parameter.scalar_type());
    }
    if (task_should_compute_output(2)) {
      of_down = at::bmm(of_sum, gated.transpose(1, 2)).sum(0);  // (L, I)
      of_down = of_down.to(weights_.down.parameter.scalar_type());
    }
    return {of_x, of_gate_up, of_down};
  }

  at::Tensor x_, y_, inverse_;
  GatedWeights weights_;
};

at::Tensor packed_token_mlp(const at::Tensor& x, const GatedWeights& weights) {
  at::Tensor y, inverse;
  {
    const PlainTensors plain;
    std::tie(y, inverse) = fused::token_mix(x.contiguous(), weights.packed, kNormEpsilon);
  }
  if (learns(x, weights)) {
    attach(y,
           std::make_shared<PackedTokenMlp>(x.detach().contiguous(), y.detach(), inverse, weights),
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

GatedWeights plain_weights(const at::Tensor& gate_up, const at::Tensor& down) {
  return {{gate_up.to(at::kFloat), at::kFloat}, {down.to(at::kFloat), at::kFloat}, {}, {}};
}

at::Tensor swiglu_block(const at::Tensor& x, const GatedWeights& weights, Activations activations) {
  return gated_mlp<Swiglu>(x, weights, activations);
}

at::Tensor token_mlp_block(const at::Tensor& x, const GatedWeights& weights,
                           Activations activations) {
  const bool whole = weights.packed_back.defined() || !learns(x, weights);
  if (weights.packed.defined() && whole) return packed_token_mlp(x, weights);
  return gated_mlp<TokenMlp>(x, weights, activations);
}

void pack_for_swiglu(GatedWeights& weights) {
  const bool learns = at::GradMode::is_enabled();  // frozen weights pass gradients on too
  const PlainTensors plain;
  const auto &gate_up = weights.gate_up.value, &down = weights.down.value;
  if (!fused::does_channel_gate(gate_up)) return;
  if (channel_gate_passes_self_check(gate_up))
    weights.packed = fused::pack_channel_gate(gate_up, false);
  if (learns && channel_gate_backward_passes_self_check(down)) {
    weights.packed_back = fused::pack_channel_gate(down, true);
  }
}

void pack_for_token_mlp(GatedWeights& weights, std::int64_t width) {
  const bool learns = at::GradMode::is_enabled();
  const PlainTensors plain;
  const auto &gate_up = weights.gate_up.value, &down = weights.down.value;
  if (!fused::does_token_mix(gate_up, width) ||
      !token_mlp_passes_self_check(gate_up, width, learns))
    return;
  weights.packed = fused::pack_token_mix(gate_up, down, false);
  if (learns) weights.packed_back = fused::pack_token_mix(gate_up, down, true);
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
