// SPDX-License-Identifier: Apache-2.0
// Precision and determinism: TF32, deterministic algorithms, autotuning of convolutions.
#include <fmt/format.h>

#include "ubique/plan/rules/rules.h"

namespace ubique::plan {
namespace {

using device::Kind;

Choice<bool> choose_tf32(const Context& context) {
  if (!context.is(Kind::Cuda)) return {false, "CUDA only", {}};
  if (context.facts.capability < 80) return {false, "TF32 begins with sm80 (Ampere)", {}};
  if (context.wishes.numerics == Numerics::Strict) {
    return {false, "numerics are strict: f32 means f32", {{"on", "10 bits of mantissa, not 23"}}};
  }
  return {true,
          fmt::format("numerics are {}: f32 products may round to 10 bits on sm{}",
                      to_string(context.wishes.numerics), context.facts.capability),
          {{"off", "--numerics strict turns it off"}}};
}

Choice<bool> choose_deterministic(const Context& context) {
  const bool asked = context.wishes.deterministic;
  if (context.is(Kind::Cpu)) {
    return {true, "the CPU is deterministic at the same number of threads", {}};
  }
  if (asked && context.is(Kind::Cuda)) return {true, "as asked: deterministic algorithms only", {}};
  if (asked)
    return {true, "as asked; Metal has no switch for it, so only our own order is fixed", {}};
  return {false, "not asked for (--deterministic)", {{"on", "slower kernels"}}};
}

Choice<bool> choose_autotune(const Context& context) {
  if (!context.is(Kind::Cuda)) return {false, "cuDNN only", {}};
  if (context.needs.convs.empty()) return {false, "the model has no convolution", {}};
  if (context.wishes.deterministic) return {false, "its choice would differ from run to run", {}};
  if (!context.needs.fixed_shapes) return {false, "it would start again for every shape", {}};
  // MeshNet-26 at 256³ on an H200: 3.2 GB more at the peak, for 2 % of the time.
  if (context.needs.has_conv(3)) {
    return {false,
            "3D: its trials take gigabytes that the plan cannot predict and gain almost nothing",
            {{"on", "a larger peak"}}};
  }
  return {true, "fixed shapes: cuDNN times its algorithms once", {{"off", "slower convolutions"}}};
}

}  // namespace

void choose_numerics(const Context& context, Plan& plan) {
  plan.tf32 = choose_tf32(context);
  plan.deterministic = choose_deterministic(context);
  plan.autotune = choose_autotune(context);
}

}  // namespace ubique::plan
