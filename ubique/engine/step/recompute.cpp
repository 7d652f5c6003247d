// SPDX-License-Identifier: Apache-2.0
// An autograd function that runs a segment twice.
#include "ubique/engine/step/recompute.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "ubique/device/recording.h"
#include "ubique/engine/step/autocast.h"
#include "ubique/engine/step/generators.h"

namespace ubique::engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

thread_local int second_passes = 0;  // nested ones in this thread

struct SecondPass {
  SecondPass() { ++second_passes; }
  ~SecondPass() { --second_passes; }
  SecondPass(const SecondPass&) = delete;
  SecondPass& operator=(const SecondPass&) = delete;
};

using device::RecordingPhase;

bool is_capturing() { return device::recording_phase() == RecordingPhase::Capture; }

/// State of the first pass that the second one needs to repeat it.
struct FirstPass : torch::CustomClassHolder {
  FirstPass(RecomputedFunction given, Hold keeping, c10::Device where)
      : function(std::move(given)),
        hold(std::move(keeping)),
        device(where),
        generators(is_capturing() ? GeneratorStates() : generator_states(where)),
        autocast(autocast_state(where.type())) {}

  std::shared_ptr<void> held() const { return hold ? hold() : nullptr; }

  RecomputedFunction function;
  Hold hold;
  c10::Device device;
  GeneratorStates generators;
  AutocastState autocast;
};

/// A replay repeats what the device did, not that the host set its generators back: the second pass
/// would draw other numbers than the first.
void refuse_draws(const FirstPass& first) {
  const auto now = generator_states(first.device);
  const auto& before = first.generators;
  const bool same = at::equal(now.cpu, before.cpu) &&
                    (!now.device.defined() || at::equal(now.device, before.device));
  TORCH_CHECK(same, "a part that is computed twice draws random numbers");
}

/// Inputs detached from the graph, so that the segment's backward pass ends at them.
std::vector<at::Tensor> detached(const variable_list& saved) {
  std::vector<at::Tensor> inputs;
  for (const auto& tensor : saved) {
    inputs.push_back(tensor.detach().requires_grad_(tensor.requires_grad()));
  }
  return inputs;
}

at::Tensor second_pass(const FirstPass& first, const std::vector<at::Tensor>& inputs) {
  std::optional<ScopedGenerators> keep;
  if (!is_capturing()) {
    keep.emplace(first.device);
    restore_generators(first.device, first.generators);
  }
  auto state = first.autocast;
  if (first.hold) state.cache = false;  // what is held must not live on as a cast copy
  const Autocast autocast(first.device.type(), state);
  const c10::AutoGradMode with_gradient(true);
  const SecondPass marked;
  return first.function(inputs);
}

struct Recompute : torch::autograd::Function<Recompute> {
  // `anchor` needs a gradient, so that there is a backward pass even if no input needs one.
  static at::Tensor forward(AutogradContext* context, c10::intrusive_ptr<FirstPass> first,
                            const at::Tensor& /*anchor*/, at::TensorList inputs) {
    context->save_for_backward(inputs.vec());
    context->saved_data["first"] = c10::IValue::make_capsule(first);
    // Casts of weights made without gradient must not be cached: they have no autograd history.
    auto uncached = first->autocast;
    uncached.cache = false;
    const Autocast autocast(first->device.type(), uncached);
    const auto held = first->held();
    auto result = first->function(inputs.vec());
    if (device::recording_phase() == RecordingPhase::Rehearsal) refuse_draws(*first);
    return result;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto capsule = context->saved_data["first"].toCapsule();
    const auto first = c10::static_intrusive_pointer_cast<FirstPass>(capsule);
    const auto inputs = detached(context->get_saved_variables());
    const auto held = first->held();
    const auto output = second_pass(*first, inputs);
    if (output.requires_grad()) torch::autograd::backward({output}, {gradients[0]});
    variable_list result(2);  // none for `first` and `anchor`
    for (const auto& input : inputs) result.push_back(input.grad());
    return result;
  }
};

c10::Device device_of(const std::vector<at::Tensor>& inputs) {
  return inputs.empty() ? c10::Device(c10::kCPU) : inputs.front().device();
}

}  // namespace

at::Tensor recompute(const RecomputedFunction& function, const std::vector<at::Tensor>& inputs,
                     const Hold& hold) {
  if (!c10::GradMode::is_enabled()) {
    const auto held = hold ? hold() : nullptr;
    return function(inputs);
  }
  const auto anchor = at::empty({0}).requires_grad_();
  return Recompute::apply(c10::make_intrusive<FirstPass>(function, hold, device_of(inputs)), anchor,
                          at::TensorList(inputs));
}

bool recomputing() { return second_passes > 0; }

}  // namespace ubique::engine
