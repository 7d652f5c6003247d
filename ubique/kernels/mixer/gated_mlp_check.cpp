// SPDX-License-Identifier: Apache-2.0
// Runs each fused kernel on synthetic inputs and pairs its results with plain f32 ops.
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

/// Synthetic inputs of token_mlp_block.
struct TokenTrial {
  at::Tensor x, gate_up, down;
  at::Tensor gradient;  // undefined: forward only

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
    const auto y = token_mlp_block(leaves[0], weights, Activations::Recompute);
    if (!gradient.defined()) return {y};
    y.backward(gradient.to(dtype));
    return {y.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
  }
};

TokenTrial token_trial(const at::Tensor& like, std::int64_t samples, std::int64_t width,
                       bool learns) {
  const auto length = like.size(1), inner = like.size(0) / 2;
  TokenTrial trial{test_values({samples, length, width}, like, 1),
                   test_values(like.sizes(), like, 2) / std::sqrt(length / 4.),
                   test_values({length, inner}, like, 3) / std::sqrt(inner / 4.),
                   {}};
  if (learns) trial.gradient = test_values(trial.x.sizes(), like, 4);
  return trial;
}

}  // namespace

bool channel_gate_passes_self_check(const at::Tensor& gate_up) {
  const auto name = fmt::format("channel_gate, {} x {}", gate_up.size(0), gate_up.size(1));
  return passes_self_check(name, gate_up, [&] {
    const auto x = test_values({130, gate_up.size(1)}, gate_up, 1);
    const auto weight = test_values(gate_up.sizes(), gate_up, 2) / std::sqrt(gate_up.size(1) / 4.);
    const auto wide = at::linear(x.to(at::kFloat), weight.to(at::kFloat)).view({130, 2, -1});
    const auto gated = at::silu(wide.select(1, 0)) * wide.select(1, 1);
    const auto packed = fused::pack_channel_gate(weight, false);
    const auto [alone, none] = fused::channel_gate(x, packed, false);
    const auto [kept, whole] = fused::channel_gate(x, packed, true);
    return trials_of({alone, kept, whole}, {gated, gated, wide});
  });
}

bool channel_gate_backward_passes_self_check(const at::Tensor& down) {
  const auto name = fmt::format("channel_gate_backward, {} x {}", down.size(0), down.size(1));
  return passes_self_check(name, down, [&] {
    // 8,580 tokens: each of 132 multiprocessors gets more than one tile (128 tokens, half of I).
    const auto of_sum = test_values({130, down.size(0)}, down, 1).repeat({66, 1});
    const auto wide = test_values({130, 2, down.size(1)}, down, 2).repeat({66, 1, 1});
    const auto weight = test_values(down.sizes(), down, 3) / std::sqrt(down.size(1) / 4.);
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

bool token_mlp_passes_self_check(const at::Tensor& gate_up, std::int64_t width, bool learns) {
  const auto name = fmt::format("token_mix, {} x {}{}", gate_up.size(0), gate_up.size(1),
                                learns ? ", gradient" : "");
  return passes_self_check(name, gate_up, [&] {
    std::vector<Trial> trials;
    for (const std::int64_t samples :
         {1, 40}) {  // the device may use another kernel for few samples
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
