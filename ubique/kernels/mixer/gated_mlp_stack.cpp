// SPDX-License-Identifier: Apache-2.0
// Declares the ops ubique::mix_stack and pack_mix_stack, and checks them before the first use.
#include "ubique/kernels/mixer/gated_mlp_stack.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <cmath>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/find_op.h"
#include "ubique/kernels/dispatch/self_check.h"

namespace ubique::kernels {
namespace {

/// Measured: from two samples on, the ordinary kernels have enough work to be faster.
constexpr std::int64_t kFewSamples = 1;

bool no_stack(const at::Tensor&, const at::Tensor&) { return false; }

using DoesStack = bool(const at::Tensor& token_gate_up, const at::Tensor& gate_up);
using PackStack = std::tuple<at::Tensor, at::Tensor, at::Tensor>(const at::Tensor& token_gate_up,
                                                                 const at::Tensor& token_down,
                                                                 const at::Tensor& gate_up,
                                                                 const at::Tensor& down);
using RunStack = at::Tensor(const at::Tensor& h, const at::Tensor& injected, at::TensorList packed,
                            std::int64_t times, double epsilon);

std::vector<at::Tensor> pack_block(const at::Tensor& token_gate_up, const at::Tensor& token_down,
                                   const at::Tensor& gate_up, const at::Tensor& down) {
  static const auto op = find_op<PackStack>("ubique::pack_mix_stack");
  const auto [tokens, gate, narrow] = op.call(token_gate_up, token_down, gate_up, down);
  return {tokens, gate, narrow};
}

at::Tensor run_stack(const at::Tensor& h, const at::Tensor& injected, at::TensorList packed,
                     std::int64_t times) {
  static const auto op = find_op<RunStack>("ubique::mix_stack");
  return op.call(h.contiguous(), injected.contiguous(), packed, times, kNormEpsilon);
}

/// Checked with two blocks, called twice.
bool stack_passes_self_check(const at::Tensor& tokens, const at::Tensor& channels) {
  const auto name = fmt::format("mix_stack, {} x {} and {} x {}", tokens.size(0), tokens.size(1),
                                channels.size(0), channels.size(1));
  return passes_self_check(name, tokens, [&] {
    const auto length = tokens.size(1), width = channels.size(1);
    const auto weight = [&](std::int64_t rows, std::int64_t columns, int seed) {
      return test_values({rows, columns}, tokens, seed) / std::sqrt(columns / 4.);
    };
    const auto h = test_values({1, length, width}, tokens, 1),
               injected = test_values(h.sizes(), tokens, 2);
    std::vector<at::Tensor> packed;
    std::vector<GatedWeights> plain;  // token MLP and SwiGLU, alternating
    for (int block = 0; block < 2; ++block) {
      std::vector<at::Tensor> weights;
      for (const auto* like : {&tokens, &channels}) {
        const int seed = 10 * block + 2 * static_cast<int>(weights.size());
        weights.push_back(weight(like->size(0), like->size(1), 3 + seed));
        weights.push_back(weight(like->size(1), like->size(0) / 2, 4 + seed));
        plain.push_back(plain_weights(weights.end()[-2], weights.end()[-1]));
      }
      const auto parts = pack_block(weights[0], weights[1], weights[2], weights[3]);
      packed.insert(packed.end(), parts.begin(), parts.end());
    }
    auto expected = h.to(at::kFloat);
    for (int call = 0; call < 2; ++call) {
      expected = expected + injected;
      for (std::size_t i = 0; i < plain.size(); i += 2) {
        expected = swiglu_block(token_mlp_block(expected, plain[i], Activations::Recompute),
                                plain[i + 1], Activations::Recompute);
      }
    }
    return std::vector<Trial>{{run_stack(h, injected, packed, 2), expected}};
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_mix_stack(Tensor token_gate_up, Tensor gate_up) -> bool");
  library.def(
      "pack_mix_stack(Tensor token_gate_up, Tensor token_down, Tensor gate_up, Tensor down) -> "
      "(Tensor, Tensor, Tensor)");
  library.def(
      "mix_stack(Tensor h, Tensor injected, Tensor[] packed, int times, float epsilon) -> Tensor");
  library.impl("does_mix_stack", c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(no_stack));
}

void GatedMlpStack::add(const GatedWeights& tokens, const GatedWeights& channels) {
  for (const auto* weights : {&tokens, &channels}) {
    if (weights->gate_up.wants_gradient() || weights->down.wants_gradient()) return;
  }
  const PlainTensors plain;
  static const auto does = find_op<DoesStack>("ubique::does_mix_stack");
  if (!does.call(tokens.gate_up.value, channels.gate_up.value)) return;
  if (!stack_passes_self_check(tokens.gate_up.value, channels.gate_up.value)) return;
  const auto parts = pack_block(tokens.gate_up.value, tokens.down.value, channels.gate_up.value,
                                channels.down.value);
  packed.insert(packed.end(), parts.begin(), parts.end());
}

bool GatedMlpStack::takes(const at::Tensor& h) const {
  return !packed.empty() && h.size(0) <= kFewSamples && !at::GradMode::is_enabled();
}

at::Tensor GatedMlpStack::call(const at::Tensor& h, const at::Tensor& injected,
                               std::int64_t times) const {
  const PlainTensors plain;
  return run_stack(h, injected, packed, times);
}

}  // namespace ubique::kernels
