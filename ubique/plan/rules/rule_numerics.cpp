// SPDX-License-Identifier: Apache-2.0
// How exact and how repeatable: TF32, determinism, and libraries that time their algorithms.
#include <fmt/format.h>

#include "ubique/plan/rules/rules.h"

namespace ubique::plan {
namespace {

using device::Kind;

Choice<bool> choose_tf32(const Question& question) {
  if (!question.is(Kind::Cuda)) return {false, "a CUDA matter", {}};
  if (question.facts.capability < 80) return {false, "TF32 begins with sm80 (Ampere)", {}};
  if (question.wishes.numerics == Numerics::Strict) {
    return {false, "numerics are strict: f32 means f32", {{"on", "10 bits of mantissa, not 23"}}};
  }
  return {true,
          fmt::format("numerics are {}: f32 products may round to 10 bits on sm{}",
                      to_string(question.wishes.numerics), question.facts.capability),
          {{"off", "--numerics strict turns it off"}}};
}

Choice<bool> choose_deterministic(const Question& question) {
  const bool asked = question.wishes.deterministic;
  if (question.is(Kind::Cpu)) {
    return {true, "the CPU repeats itself at the same number of threads", {}};
  }
  if (asked && question.is(Kind::Cuda))
    return {true, "as asked: deterministic algorithms only", {}};
  if (asked)
    return {true, "as asked; Metal has no switch for it, so only our own order is fixed", {}};
  return {false, "not asked for (--deterministic)", {{"on", "slower kernels"}}};
}

Choice<bool> choose_autotune(const Question& question) {
  if (!question.is(Kind::Cuda)) return {false, "a cuDNN matter", {}};
  if (question.needs.convs.empty()) return {false, "the model has no convolution", {}};
  if (question.wishes.deterministic) return {false, "its choice would differ from run to run", {}};
  if (!question.needs.fixed_shapes) return {false, "it would start again for every shape", {}};
  // MeshNet-26 at 256³ on an H200: 3.2 GB more at the peak, for 2 % of the time.
  if (question.needs.has_conv(3)) {
    return {false,
            "3D: its trials take gigabytes that no plan foresees and win next to nothing",
            {{"on", "a larger peak"}}};
  }
  return {true, "fixed shapes: cuDNN times its algorithms once", {{"off", "slower convolutions"}}};
}

}  // namespace

void choose_numerics(const Question& question, Plan& plan) {
  plan.tf32 = choose_tf32(question);
  plan.deterministic = choose_deterministic(question);
  plan.autotune = choose_autotune(question);
}

}  // namespace ubique::plan
