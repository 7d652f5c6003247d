// SPDX-License-Identifier: Apache-2.0
// Gradient checkpointing runs a forward pass twice. With dropout, the second pass must draw the
// same mask, which needs a generator whose state can be saved and restored.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <mutex>

#include "ubique/device/runtime.h"
#include "ubique/probe/probes/groups.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::probe {
namespace {

constexpr double kDropped = 0.4;

at::Tensor generator_state(c10::Device device) {
  auto generator = at::globalContext().defaultGenerator(device);
  std::scoped_lock lock(generator.mutex());
  return generator.get_state();
}

void set_generator_state(c10::Device device, const at::Tensor& state) {
  auto generator = at::globalContext().defaultGenerator(device);
  std::scoped_lock lock(generator.mutex());
  generator.set_state(state);
}

at::Tensor dropout_block(const at::Tensor& x, const at::Tensor& w) {
  return at::dropout(at::gelu(at::matmul(x, w)), kDropped, true);
}

struct DropoutInputs {
  at::Tensor x, w;
};

DropoutInputs dropout_inputs(const Site& site, DType dtype) {
  const auto x = make_operand({"input", {64, 33}}, dtype, site.random.fork(0));
  const auto w = make_operand({"weight", {33, 70}, 0.2}, dtype, site.random.fork(1));
  device::manual_seed(site.device, site.random.stream());
  return {x.to(site.device), w.to(site.device, w.scalar_type(), false, true)};
}

Finding same_mask_again(const Site& site, DType dtype) {
  c10::NoGradGuard no_gradients;
  const auto in = dropout_inputs(site, dtype);
  const auto state = generator_state(site.device);
  const auto first = dropout_block(in.x, in.w);
  const auto other = dropout_block(in.x, in.w);
  set_generator_state(site.device, state);
  const auto again = dropout_block(in.x, in.w);
  if (compare(other, first).error == 0) {
    return not_run(Outcome::Fail, "two dropout masks in a row are equal");
  }
  const double dropped = first.eq(0).cpu().to(at::kDouble).mean().item<double>();
  if (dropped < kDropped - 0.05 || dropped > kDropped + 0.05) {
    return not_run(Outcome::Fail,
                   fmt::format("dropout of {} dropped {:.3f} of the values", kDropped, dropped));
  }
  const auto difference = compare(again, first);
  return judge(difference.error, 0,
               "the mask differs after putting the generator back: " + difference.to_text());
}

/// Compares the weight's gradient through plain dropout and through a recomputed forward pass.
Finding same_gradient_again(const Site& site, DType dtype) {
  const auto in = dropout_inputs(site, dtype);
  const auto state = generator_state(site.device);
  const auto gradient = [&](bool recompute) {
    c10::AutoGradMode recording(true);
    auto w = in.w.detach().clone().requires_grad_();
    set_generator_state(site.device, state);
    if (recompute) {
      c10::NoGradGuard no_gradients;
      const auto saved = generator_state(site.device);
      dropout_block(in.x, w);
      set_generator_state(site.device, saved);
    }
    dropout_block(in.x, w).sum().backward();
    return w.grad();
  };
  const auto plain = gradient(false);
  const auto difference = compare(gradient(true), plain);
  return judge(difference.error, tolerance(dtype, {64, 2}),
               "checkpointed gradient differs from the plain one: " + difference.to_text());
}

}  // namespace

std::vector<Probe> checkpoint_probes() {
  std::vector<Probe> probes;
  for (const auto dtype : kProbedDtypes) {
    probes.push_back({"checkpoint.dropout", "", dtype, Layout::Contiguous, false,
                      [dtype](const Site& site) { return same_mask_again(site, dtype); }});
    probes.push_back({"checkpoint.dropout", "", dtype, Layout::Contiguous, true,
                      [dtype](const Site& site) { return same_gradient_again(site, dtype); }});
  }
  return probes;
}

}  // namespace ubique::probe
