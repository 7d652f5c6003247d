// SPDX-License-Identifier: Apache-2.0
#include "ubique/kernels/mixer/gated_mlp_check.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/fused_mlp.h"
#include "ubique/kernels/dispatch/self_check.h"
#include "ubique/kernels/mixer/gated_mlp.h"

namespace ubique::kernels {
namespace {

/// What goes into a sub-layer that mixes tokens.
struct TokenTrial {
  at::Tensor x, gate_up, down;
  at::Tensor gradient;  // undefined: forward alone

  /// The result, then the gradients of x and the weights.
  std::vector<at::Tensor> results(at::ScalarType dtype, bool packed) const {
    const at::AutoGradMode recorded(gradient.defined());
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    std::vector<at::Tensor> leaves;
    for (const auto* tensor : {&x, &gate_up, &down}) {
      leaves.push_back(tensor->to(dtype, false, true).requires_grad_(gradient.defined()));
    }
    GatedWeights weights{{leaves[1], dtype}, {leaves[2], dtype}, {}, {}};
    if (packed) weights.packed = fused::pack_token_mix(gate_up, down, false);
    if (packed && gradient.defined()) {
      weights.packed_back = fused::pack_token_mix(gate_up, down, true);
    }
    const auto y = token_mix(leaves[0], weights, Kept::Narrow);
    if (!gradient.defined()) return {y};
    y.backward(gradient.to(dtype));
    return {y.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
  }
};

TokenTrial token_trial(const at::Tensor& like, std::int64_t samples, std::int64_t width,
                       bool learns) {
  const auto length = like.size(1), inner = like.size(0) / 2;
  TokenTrial trial{made_up({samples, length, width}, like, 1),
                   made_up(like.sizes(), like, 2) / std::sqrt(length / 4.),
                   made_up({length, inner}, like, 3) / std::sqrt(inner / 4.),
                   {}};
  if (learns) trial.gradient = made_up(trial.x.sizes(), like, 4);
  return trial;
}

}  // namespace

bool trusts_channel_gate(const at::Tensor& gate_up) {
  const auto name = fmt::format("channel_gate, {} x {}", gate_up.size(0), gate_up.size(1));
  return is_trusted(name, gate_up, [&] {
    const auto x = made_up({130, gate_up.size(1)}, gate_up, 1);
    const auto weight = made_up(gate_up.sizes(), gate_up, 2) / std::sqrt(gate_up.size(1) / 4.);
    const auto wide = at::linear(x.to(at::kFloat), weight.to(at::kFloat)).view({130, 2, -1});
    const auto gated = at::silu(wide.select(1, 0)) * wide.select(1, 1);
    const auto packed = fused::pack_channel_gate(weight, false);
    const auto [alone, none] = fused::channel_gate(x, packed, false);
    const auto [kept, whole] = fused::channel_gate(x, packed, true);
    return trials_of({alone, kept, whole}, {gated, gated, wide});
  });
}

bool trusts_channel_gate_backward(const at::Tensor& down) {
  const auto name = fmt::format("channel_gate_backward, {} x {}", down.size(0), down.size(1));
  return is_trusted(name, down, [&] {
    // 8,580 tokens: more than one turn (128 tokens, half of the units) for each of 132 processors.
    const auto of_sum = made_up({130, down.size(0)}, down, 1).repeat({66, 1});
    const auto wide = made_up({130, 2, down.size(1)}, down, 2).repeat({66, 1, 1});
    const auto weight = made_up(down.sizes(), down, 3) / std::sqrt(down.size(1) / 4.);
    const auto [of_wide, gated] =
        fused::channel_gate_backward(of_sum, fused::pack_channel_gate(weight, true), wide);
    const auto of_gated = at::mm(of_sum.to(at::kFloat), weight.to(at::kFloat));
    const auto gate = wide.select(1, 0).to(at::kFloat), value = wide.select(1, 1).to(at::kFloat);
    const auto open = at::silu(gate);
    return trials_of(
        {of_wide, gated},
        {at::stack({at::silu_backward(of_gated * value, gate), of_gated * open}, 1), open * value});
  });
}

bool trusts_token_mix(const at::Tensor& gate_up, std::int64_t width, bool learns) {
  const auto name = fmt::format("token_mix, {} x {}{}", gate_up.size(0), gate_up.size(1),
                                learns ? ", gradient" : "");
  return is_trusted(name, gate_up, [&] {
    std::vector<Trial> trials;
    for (const std::int64_t samples : {1, 40}) {  // few of them have a kernel of their own
      const auto trial = token_trial(gate_up, samples, width, learns);
      for (auto& one : trials_of(trial.results(gate_up.scalar_type(), true),
                                 trial.results(at::kFloat, false))) {
        trials.push_back(std::move(one));
      }
    }
    return trials;
  });
}

}  // namespace ubique::kernels
