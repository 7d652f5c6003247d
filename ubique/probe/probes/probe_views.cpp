// SPDX-License-Identifier: Apache-2.0
// Ops on non-contiguous tensors: transposed, strided, sliced, offset. In-place updates return the
// whole base tensor, so that a write outside the view counts as an error too.
#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "ubique/probe/probes/groups.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::probe {
namespace {

Operand view_operand(const char* name, std::vector<std::int64_t> shape, double deviation = 1) {
  return {.name = name,
          .shape = std::move(shape),
          .deviation = deviation,
          .gradient_path = {1024, 2, kWinogradGrowth}};
}

struct ViewCase {
  const char* tag;
  std::vector<Operand> operands;
  std::function<Tensors(const Tensors&)> forward;
  bool gradient = true;
};

std::vector<Probe> view_probes(const char* op, const std::vector<ViewCase>& cases) {
  std::vector<Probe> probes;
  for (const auto& view : cases) {
    OperationProbes what{.op = op, .tag = view.tag, .gradient = view.gradient};
    what.operation.operands = view.operands;
    what.operation.forward = view.forward;
    what.operation.path = {256, 3, kWinogradGrowth};
    auto made = make_probes(what);
    probes.insert(probes.end(), made.begin(), made.end());
  }
  return probes;
}

/// One step of Adam on a parameter that is a view; its two moments are as long as the view.
void adam_step(at::Tensor parameter, const at::Tensor& gradient, at::Tensor first,
               at::Tensor second) {
  first.mul_(0.9).add_(gradient, 0.1);
  second.mul_(0.99).addcmul_(gradient, gradient, 0.01);
  parameter.mul_(0.999).addcdiv_(first, second.sqrt().add_(0.1), -0.05);
}

/// 1 where finite: isfinite of a view into a base tensor with an infinity and a NaN.
Tensors finite_through(const at::Tensor& base, const std::function<at::Tensor(at::Tensor)>& view) {
  auto values = base.clone();
  values.select(0, 1).fill_(std::numeric_limits<double>::infinity());
  values.select(1, 2).fill_(std::numeric_limits<double>::quiet_NaN());
  return {at::isfinite(view(values)).to(base.scalar_type())};
}

Tensors strided_linear(const Tensors& in) {
  const auto bias = in[2].slice(0, 0, std::nullopt, 2);  // every second of 34
  return {at::linear(in[0].t(), in[1].t(), bias)};       // (33, 48) x (48, 17)
}

Tensors strided_conv2d(const Tensors& in) {
  const auto input = in[0].permute({0, 3, 1, 2});  // (B, H, W, C) as it lies
  return {at::conv2d(input, in[1].permute({0, 3, 1, 2}), {}, 1, 1)};
}

Tensors strided_update(const Tensors& in) {
  auto base = in[0].clone(), second = in[3].square();
  adam_step(base.t(), in[1].t(), in[2].t().clone(), second.t());
  return {base, second};
}

Tensors sliced_linear(const Tensors& in) {
  const auto weight = in[1].narrow(0, 17, 17);  // the K of a fused QKV
  return {at::linear(in[0].narrow(1, 5, 48), weight, in[2].narrow(0, 17, 17))};
}

Tensors sliced_weight_conv2d(const Tensors& in) {
  const auto weight = in[1].narrow(0, 2, 4).narrow(1, 1, 3);  // (4, 3, 3, 3)
  return {at::conv2d(in[0], weight, {}, 1, 1)};
}

Tensors sliced_input_conv2d(const Tensors& in) {
  return {at::conv2d(in[0].narrow(1, 3, 3), in[1], {}, 1, 1)};
}

Tensors sliced_input_conv3d(const Tensors& in) {
  return {at::conv3d(in[0].narrow(1, 2, 3), in[1], {}, 1, 2, 2)};
}

Tensors sliced_batch_norm3d(const Tensors& in) {
  return {at::batch_norm(in[0].narrow(1, 2, 3), {}, {}, {}, {}, true, 0.1, 1e-5, true)};
}

Tensors sliced_update(const Tensors& in) {
  auto base = in[0].clone(), first = in[2].clone(), second = in[3].square();
  adam_step(base.narrow(0, 33, 70), in[1].narrow(0, 7, 70), first.narrow(0, 3, 70),
            second.narrow(0, 9, 70));
  return {base, first, second};
}

Tensors sliced_copy(const Tensors& in) {
  auto base = in[0].clone();
  base.narrow(1, 7, 16).narrow(0, 3, 5).copy_(in[1].narrow(1, 1, 16).narrow(0, 2, 5));
  return {base};
}

}  // namespace

std::vector<Probe> strided_view_probes() {
  return view_probes(
      "views.strided",
      {{"add",
        {view_operand("left", {33, 70}), view_operand("right", {70, 33})},
        [](const Tensors& in) { return Tensors{in[0] + in[1].t()}; }},
       {"every_second",
        {view_operand("left", {33, 70}), view_operand("right", {35, 33})},
        [](const Tensors& in) { return Tensors{in[0].slice(1, 1, std::nullopt, 2) * in[1].t()}; }},
       {"softmax",
        {view_operand("input", {33, 70})},
        [](const Tensors& in) { return Tensors{at::softmax(in[0].t(), 1)}; }},
       {"linear",
        {view_operand("input", {48, 33}), view_operand("weight", {48, 17}, 0.14),
         view_operand("bias", {34})},
        strided_linear},
       {"conv2d",
        {view_operand("input", {2, 9, 11, 6}), view_operand("weight", {4, 3, 3, 6}, 0.14)},
        strided_conv2d},
       {"isfinite",
        {view_operand("input", {33, 70})},
        [](const Tensors& in) {
          return finite_through(
              in[0], [](const at::Tensor& base) { return base.t().slice(0, 0, std::nullopt, 3); });
        },
        false},
       {"adam_update",
        {view_operand("parameter", {33, 20}), view_operand("gradient", {33, 20}),
         view_operand("first moment", {33, 20}), view_operand("second moment", {33, 20})},
        strided_update,
        false}});
}

std::vector<Probe> sliced_view_probes() {
  return view_probes(
      "views.sliced",
      {{"add",
        {view_operand("left", {33, 70}), view_operand("right", {40, 64})},
        [](const Tensors& in) {
          return Tensors{in[0].narrow(1, 3, 60) + in[1].narrow(0, 7, 33).narrow(1, 1, 60)};
        }},
       {"linear",
        {view_operand("input", {9, 64}), view_operand("weight", {51, 48}, 0.14),
         view_operand("bias", {51})},
        sliced_linear},
       {"conv2d_weight",
        {view_operand("input", {2, 3, 9, 11}), view_operand("weight", {8, 6, 3, 3}, 0.2)},
        sliced_weight_conv2d},
       {"conv2d_input",
        {view_operand("input", {2, 8, 9, 11}), view_operand("weight", {4, 3, 3, 3}, 0.2)},
        sliced_input_conv2d},
       {"conv3d_input",
        {view_operand("input", {2, 6, 7, 8, 9}), view_operand("weight", {4, 3, 3, 3, 3}, 0.11)},
        sliced_input_conv3d},
       {"batch_norm3d", {view_operand("input", {2, 6, 5, 6, 7})}, sliced_batch_norm3d},
       {"isfinite",
        {view_operand("input", {33, 70})},
        [](const Tensors& in) {
          return finite_through(in[0], [](const at::Tensor& base) { return base.narrow(1, 1, 7); });
        },
        false},
       {"adam_update",
        {view_operand("parameter", {128}), view_operand("gradient", {90}),
         view_operand("first moment", {90}), view_operand("second moment", {90})},
        sliced_update,
        false},
       {"copy",
        {view_operand("target", {20, 40}), view_operand("source", {9, 33})},
        sliced_copy,
        false}});
}

}  // namespace ubique::probe
