// SPDX-License-Identifier: Apache-2.0
// Does autocast take effect? The dtype of products under autocast, float32 inside a disabled
// region, and gradients in the dtype of the parameters.
#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "ubique/probe/probes/groups.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::probe {
namespace {

/// Sets autocast for a device type and restores it at the end of the scope.
class AutocastRegion {
 public:
  AutocastRegion(c10::DeviceType type, bool enabled, at::ScalarType dtype)
      : type_(type),
        was_enabled_(at::autocast::is_autocast_enabled(type)),
        old_dtype_(at::autocast::get_autocast_dtype(type)) {
    at::autocast::increment_nesting();
    at::autocast::set_autocast_dtype(type, dtype);
    at::autocast::set_autocast_enabled(type, enabled);
  }
  ~AutocastRegion() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type_, was_enabled_);
    at::autocast::set_autocast_dtype(type_, old_dtype_);
  }
  AutocastRegion(const AutocastRegion&) = delete;
  AutocastRegion& operator=(const AutocastRegion&) = delete;

 private:
  c10::DeviceType type_;
  bool was_enabled_;
  at::ScalarType old_dtype_;
};

struct AutocastOp {
  const char* tag;
  std::vector<std::int64_t> input, weight;
  at::Tensor (*apply)(const at::Tensor& input, const at::Tensor& weight);
};

const AutocastOp kAutocastOps[] = {
    {"matmul",
     {33, 48},
     {48, 17},
     [](const at::Tensor& x, const at::Tensor& w) { return at::matmul(x, w); }},
    {"linear",
     {33, 48},
     {17, 48},
     [](const at::Tensor& x, const at::Tensor& w) { return at::linear(x, w); }},
    {"conv2d",
     {2, 3, 9, 9},
     {4, 3, 3, 3},
     [](const at::Tensor& x, const at::Tensor& w) { return at::conv2d(x, w); }},
};

Finding wrong_dtype(const char* what, at::ScalarType got, at::ScalarType expected) {
  return not_run(Outcome::Fail, fmt::format("{} is {}, expected {}", what, c10::toString(got),
                                            c10::toString(expected)));
}

Finding effective_dtype(const Site& site, DType dtype, const AutocastOp& op) {
  const auto wanted = to_torch(dtype);
  const auto x = make_operand({"input", op.input}, DType::F32, site.random.fork(0));
  const auto w = make_operand({"weight", op.weight, 0.2}, DType::F32, site.random.fork(1));
  const auto device_x = x.to(site.device), device_w = w.to(site.device);
  at::Tensor output, island;
  {
    AutocastRegion on(site.device.type(), true, wanted);
    output = op.apply(device_x, device_w);
    AutocastRegion off(site.device.type(), false, wanted);
    island = op.apply(device_x, device_w);
  }
  if (output.scalar_type() != wanted) {
    return wrong_dtype("the output under autocast", output.scalar_type(), wanted);
  }
  if (island.scalar_type() != at::kFloat) {
    return wrong_dtype("a float32 island's output", island.scalar_type(), at::kFloat);
  }
  const auto rounded = op.apply(x.to(wanted).to(at::kDouble), w.to(wanted).to(at::kDouble));
  const auto difference = compare(output, rounded);
  return judge(difference.error, tolerance(dtype, {48}), difference.to_text());
}

Finding gradient_dtype(const Site& site, DType dtype, const AutocastOp& op) {
  c10::AutoGradMode recording(true);
  const auto wanted = to_torch(dtype);
  const auto x = make_operand({"input", op.input}, DType::F32, site.random.fork(0));
  const auto w = make_operand({"weight", op.weight, 0.2}, DType::F32, site.random.fork(1));
  auto weight = w.to(site.device, w.scalar_type(), false, true).requires_grad_();
  at::Tensor output;
  {
    AutocastRegion on(site.device.type(), true, wanted);
    output = op.apply(x.to(site.device), weight);
  }
  output.sum().backward();
  if (!weight.grad().defined()) return not_run(Outcome::Fail, "the weight got no gradient");
  if (weight.grad().scalar_type() != at::kFloat) {
    return wrong_dtype("the weight's gradient", weight.grad().scalar_type(), at::kFloat);
  }
  auto reference = w.to(wanted).to(at::kDouble).requires_grad_();
  op.apply(x.to(wanted).to(at::kDouble), reference).sum().backward();
  const auto difference = compare(weight.grad(), reference.grad());
  return judge(difference.error, tolerance(dtype, {128, 2}), difference.to_text());
}

}  // namespace

std::vector<Probe> autocast_probes() {
  std::vector<Probe> probes;
  for (const auto dtype : {DType::BF16, DType::F16}) {
    for (const auto& op : kAutocastOps) {
      for (const bool gradient : {false, true}) {
        probes.push_back({"autocast.effective_dtype", op.tag, dtype, Layout::Contiguous, gradient,
                          [dtype, &op, gradient](const Site& site) {
                            return gradient ? gradient_dtype(site, dtype, op)
                                            : effective_dtype(site, dtype, op);
                          }});
      }
    }
  }
  return probes;
}

}  // namespace ubique::probe
