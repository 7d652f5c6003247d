// SPDX-License-Identifier: Apache-2.0
#include "ubique/kernels/mix_trials.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>

#include "ubique/kernels/autograd.h"
#include "ubique/kernels/fused_mix.h"
#include "ubique/kernels/fused_rows.h"
#include "ubique/kernels/mix.h"
#include "ubique/kernels/trust.h"

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

bool trusts_channel_gate(const at::Tensor& gate_up, bool learns) {
  const auto inner = gate_up.size(0) / 2, width = gate_up.size(1);
  const auto name =
      fmt::format("channel_gate, {} x {}{}", 2 * inner, width, learns ? ", gradient" : "");
  return is_trusted(name, gate_up, [&] {
    const auto x = made_up({130, width}, gate_up, 1);
    const auto weight = made_up(gate_up.sizes(), gate_up, 2) / std::sqrt(width / 4.);
    const auto wide = at::linear(x.to(at::kFloat), weight.to(at::kFloat)).view({130, 2, -1});
    const auto gated = at::silu(wide.select(1, 0)) * wide.select(1, 1);
    const auto packed = fused::pack_channel_gate(weight, false);
    const auto [alone, none] = fused::channel_gate(x, packed, false);
    const auto [kept, whole] = fused::channel_gate(x, packed, true);
    auto trials = trials_of({alone, kept, whole}, {gated, gated, wide});
    if (learns) {
      const auto down = made_up({width, inner}, gate_up, 3) / std::sqrt(inner / 4.);
      const auto [of_wide, again] =
          fused::channel_gate_backward(x, fused::pack_channel_gate(down, true), whole);
      const auto [expected, values] = fused::swiglu_backward(
          at::mm(x.to(at::kFloat), down.to(at::kFloat)), whole.to(at::kFloat));
      trials.push_back({of_wide, expected});
      trials.push_back({again, values});
    }
    return trials;
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
