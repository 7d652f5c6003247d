// SPDX-License-Identifier: Apache-2.0
// Runs an op forward and backward, compares it with float64 on the CPU, and times it.
#include "ubique/probe/probes/operation.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <memory>

#include "ubique/probe/core/timing.h"

namespace ubique::probe {
namespace {

/// How one probe of an operation differs from the next.
struct Setting {
  DType dtype;
  Layout layout;
  bool gradient;
};

at::Tensor in_layout(const at::Tensor& tensor, Layout layout) {
  if (layout == Layout::Contiguous) return tensor;
  // A clone, because contiguous() leaves a tensor of one channel as it is: the memory is the same,
  // but its strides stay "contiguous", and kernels choose by the strides.
  if (tensor.dim() == 4) return tensor.clone(at::MemoryFormat::ChannelsLast);
  if (tensor.dim() == 5) return tensor.clone(at::MemoryFormat::ChannelsLast3d);
  return tensor;
}

Tensors make_operands(const Operation& operation, DType dtype, const Random& random) {
  Tensors operands;
  for (const auto& operand : operation.operands) {
    operands.push_back(make_operand(operand, dtype, random.fork(operands.size())));
  }
  return operands;
}

/// The gradient of the output, random.
at::Tensor make_upstream(const at::Tensor& output, DType dtype, const Random& random) {
  return make_operand({.name = "upstream", .shape = output.sizes().vec()}, dtype,
                      random.fork(1000));
}

// Always a copy: an in-place op must not change the host's tensors.
Tensors to_reference(const Tensors& operands) {
  Tensors moved;
  for (const auto& operand : operands) moved.push_back(operand.to(at::kDouble, false, true));
  return moved;
}

Tensors to_device(const Tensors& operands, c10::Device device, Layout layout) {
  Tensors moved;
  for (const auto& operand : operands) {
    moved.push_back(in_layout(operand, layout).to(device, operand.scalar_type(), false, true));
  }
  return moved;
}

/// `upstream` makes the gradient of the output.
Tensors gradients_of(const Operation& operation, Tensors inputs,
                     const std::function<at::Tensor(const at::Tensor&)>& upstream) {
  c10::AutoGradMode recording(true);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i] = inputs[i].detach();
    if (operation.operands[i].wants_gradient) inputs[i].requires_grad_();
  }
  const auto output = operation.forward(inputs).front();
  output.backward(upstream(output));
  Tensors gradients;
  for (const auto& input : inputs) gradients.push_back(input.grad());
  return gradients;
}

Finding check_forward(const Operation& operation, const Setting& setting, const Site& site) {
  c10::NoGradGuard no_gradients;
  const auto operands = make_operands(operation, setting.dtype, site.random);
  const auto expected = operation.forward(to_reference(operands));
  const auto inputs = to_device(operands, site.device, setting.layout);
  const auto outputs = operation.forward(inputs);
  Difference worst;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto difference = compare(outputs[i], expected[i]);
    if (i == 0 || difference.error > worst.error) worst = difference;
  }
  const double allowed = tolerance(setting.dtype, operation.path);
  auto finding = judge(worst.error, allowed, worst.to_text());
  if (finding.outcome != Outcome::Pass || !operation.invariant) return finding;
  const auto invariant = operation.invariant(inputs, outputs.front(), allowed);
  return invariant.outcome == Outcome::Pass ? finding : invariant;
}

Finding check_gradient(const Operation& operation, const Setting& setting, const Site& site) {
  const auto operands = make_operands(operation, setting.dtype, site.random);
  at::Tensor upstream;
  const auto expected =
      gradients_of(operation, to_reference(operands), [&](const at::Tensor& output) {
        upstream = make_upstream(output, setting.dtype, site.random);
        return upstream.to(at::kDouble);
      });
  const auto moved = to_device({upstream}, site.device, setting.layout).front();
  const auto gradients = gradients_of(operation, to_device(operands, site.device, setting.layout),
                                      [&](const at::Tensor&) { return moved; });
  Finding worst;
  double worst_ratio = -1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].defined()) continue;
    const auto& operand = operation.operands[i];
    if (!gradients[i].defined()) return not_run(Outcome::Fail, operand.name + " got no gradient");
    const auto difference = compare(gradients[i], expected[i]);
    const double allowed = tolerance(setting.dtype, operand.gradient_path);
    if (difference.error / allowed <= worst_ratio) continue;
    worst_ratio = difference.error / allowed;
    worst = judge(difference.error, allowed,
                  fmt::format("gradient of {}: {}", operand.name, difference.to_text()));
  }
  return worst;
}

double time_operation(const Operation& operation, const Setting& setting, c10::Device device,
                      const Site& site) {
  const auto operands = make_operands(operation, setting.dtype, site.random);
  const auto inputs = to_device(operands, device, setting.layout);
  c10::NoGradGuard no_gradients;
  const auto output = operation.forward(inputs).front();
  if (!setting.gradient)
    return median_ms(
        device, [&] { operation.forward(inputs); }, site.stop);
  const auto upstream =
      to_device({make_upstream(output, setting.dtype, site.random)}, device, setting.layout)
          .front();
  const auto given = [&](const at::Tensor&) { return upstream; };
  return median_ms(
      device, [&] { gradients_of(operation, inputs, given); }, site.stop);
}

Finding examine(const Operation& operation, const Setting& setting, const Site& site) {
  auto finding = setting.gradient ? check_gradient(operation, setting, site)
                                  : check_forward(operation, setting, site);
  if (!operation.timed || !site.timing || finding.outcome != Outcome::Pass) return finding;
  const ThreadCount threads(site.threads);
  finding.device_ms = time_operation(operation, setting, site.device, site);
  if (site.facts.kind != device::Kind::Cpu) {
    // The alternative on the CPU: f32 and contiguous, which CPUs are fastest in.
    const Setting plain{DType::F32, Layout::Contiguous, setting.gradient};
    finding.cpu_ms = time_operation(operation, plain, c10::Device(c10::kCPU), site);
  }
  return finding;
}

}  // namespace

at::Tensor make_operand(const Operand& operand, DType dtype, const Random& random) {
  auto values = at::empty(operand.shape, at::kFloat);
  random.fill_normal({values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())},
                     static_cast<float>(operand.mean), static_cast<float>(operand.deviation));
  return operand.keeps_f32 ? values : values.to(to_torch(dtype));
}

std::vector<Probe> make_probes(const OperationProbes& what) {
  std::vector<Probe> probes;
  const auto operation = std::make_shared<const Operation>(what.operation);
  for (const auto dtype : what.dtypes) {
    for (const auto layout : what.layouts) {
      for (const bool gradient : {false, true}) {
        if (gradient && !what.gradient) continue;
        const Setting setting{dtype, layout, gradient};
        probes.push_back(
            {what.op, what.tag, dtype, layout, gradient,
             [operation, setting](const Site& site) { return examine(*operation, setting, site); },
             operation->timed, operation->work * (gradient ? 3 : 1)});
      }
    }
  }
  return probes;
}

}  // namespace ubique::probe
