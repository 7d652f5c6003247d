// SPDX-License-Identifier: Apache-2.0
#include "ubique/kernels/mix_stack.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <torch/library.h>

#include "ubique/kernels/autograd.h"

namespace ubique::kernels {
namespace {

/// One sample is what this was measured for: more of them give the ordinary kernels enough to do.
constexpr std::int64_t kFewSamples = 1;

bool no_mix_stack(const at::Tensor&, const at::Tensor&) { return false; }

using DoesStack = bool(const at::Tensor& token_gate_up, const at::Tensor& gate_up);
using PackStack = std::tuple<at::Tensor, at::Tensor, at::Tensor>(const at::Tensor& token_gate_up,
                                                                 const at::Tensor& token_down,
                                                                 const at::Tensor& gate_up,
                                                                 const at::Tensor& down);
using RunStack = at::Tensor(const at::Tensor& h, const at::Tensor& injected, at::TensorList packed,
                            std::int64_t times, double epsilon);

template <typename Function>
auto find_stack_op(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Function>();
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_mix_stack(Tensor token_gate_up, Tensor gate_up) -> bool");
  library.def(
      "pack_mix_stack(Tensor token_gate_up, Tensor token_down, Tensor gate_up, Tensor down) -> "
      "(Tensor, Tensor, Tensor)");
  library.def(
      "mix_stack(Tensor h, Tensor injected, Tensor[] packed, int times, float epsilon) -> Tensor");
  library.impl("does_mix_stack", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_mix_stack));
}

void MixStack::add(const GatedWeights& tokens, const GatedWeights& channels) {
  for (const auto* weights : {&tokens, &channels}) {
    if (weights->gate_up.wants_gradient() || weights->down.wants_gradient()) return;
  }
  const PlainTensors plain;
  static const auto does = find_stack_op<DoesStack>("ubique::does_mix_stack");
  if (!does.call(tokens.gate_up.value, channels.gate_up.value)) return;
  static const auto pack = find_stack_op<PackStack>("ubique::pack_mix_stack");
  const auto [mixing, gate, down] = pack.call(tokens.gate_up.value, tokens.down.value,
                                              channels.gate_up.value, channels.down.value);
  packed.insert(packed.end(), {mixing, gate, down});
}

bool MixStack::takes(const at::Tensor& h) const {
  return !packed.empty() && h.size(0) <= kFewSamples && !at::GradMode::is_enabled();
}

at::Tensor MixStack::call(const at::Tensor& h, const at::Tensor& injected,
                          std::int64_t times) const {
  const PlainTensors plain;
  static const auto op = find_stack_op<RunStack>("ubique::mix_stack");
  return op.call(h.contiguous(), injected.contiguous(), packed, times, kNormEpsilon);
}

}  // namespace ubique::kernels
