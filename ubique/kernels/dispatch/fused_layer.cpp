// SPDX-License-Identifier: Apache-2.0
#include "ubique/kernels/dispatch/fused_layer.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include "ubique/kernels/dispatch/find_op.h"

namespace ubique::kernels::fused {
namespace {

bool no_norm_act(const at::Tensor&) { return false; }
bool no_convolve(const at::Tensor&, const at::Tensor&, std::int64_t) { return false; }
bool no_weight_gradient(const at::Tensor&, const at::Tensor&, std::int64_t, std::int64_t) {
  return false;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_norm_act(Tensor x) -> bool");
  library.def(
      "norm_act(Tensor x, Tensor weight, Tensor bias, Tensor? scale, int activation, float "
      "epsilon) -> (Tensor, Tensor, Tensor)");
  library.def(
      "norm_act_again(Tensor x, Tensor weight, Tensor bias, Tensor? scale, Tensor mean, Tensor "
      "inverse_deviation, int activation) -> Tensor");
  library.def(
      "norm_act_backward(Tensor gradient, Tensor x, Tensor weight, Tensor bias, Tensor? scale, "
      "Tensor mean, Tensor inverse_deviation, int activation) -> (Tensor, Tensor, Tensor)");
  library.def("does_convolve(Tensor x, Tensor weight, int dilation) -> bool");
  library.def("convolve(Tensor x, Tensor weight, Tensor? bias, int dilation, bool relu) -> Tensor");
  library.def("does_weight_gradient(Tensor gradient, Tensor x, int kernel, int dilation) -> bool");
  library.def("weight_gradient(Tensor gradient, Tensor x, int dilation) -> Tensor");
  const auto everywhere = c10::DispatchKey::CompositeExplicitAutograd;
  library.impl("does_norm_act", everywhere, TORCH_FN(no_norm_act));
  library.impl("does_convolve", everywhere, TORCH_FN(no_convolve));
  library.impl("does_weight_gradient", everywhere, TORCH_FN(no_weight_gradient));
}

bool does_norm_act(const at::Tensor& x) {
  static const auto op = find_op<bool(const at::Tensor&)>("ubique::does_norm_act");
  return op.call(x);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> norm_act(const at::Tensor& x,
                                                        const at::Tensor& weight,
                                                        const at::Tensor& bias,
                                                        const std::optional<at::Tensor>& scale,
                                                        std::int64_t activation, double epsilon) {
  static const auto op = find_op<decltype(norm_act)>("ubique::norm_act");
  return op.call(x, weight, bias, scale, activation, epsilon);
}

at::Tensor norm_act_again(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          const std::optional<at::Tensor>& scale, const at::Tensor& mean,
                          const at::Tensor& inverse_deviation, std::int64_t activation) {
  static const auto op = find_op<decltype(norm_act_again)>("ubique::norm_act_again");
  return op.call(x, weight, bias, scale, mean, inverse_deviation, activation);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> norm_act_backward(
    const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& weight,
    const at::Tensor& bias, const std::optional<at::Tensor>& scale, const at::Tensor& mean,
    const at::Tensor& inverse_deviation, std::int64_t activation) {
  static const auto op = find_op<decltype(norm_act_backward)>("ubique::norm_act_backward");
  return op.call(gradient, x, weight, bias, scale, mean, inverse_deviation, activation);
}

bool does_convolve(const at::Tensor& x, const at::Tensor& weight, std::int64_t dilation) {
  static const auto op = find_op<decltype(does_convolve)>("ubique::does_convolve");
  return op.call(x, weight, dilation);
}

at::Tensor convolve(const at::Tensor& x, const at::Tensor& weight,
                    const std::optional<at::Tensor>& bias, std::int64_t dilation, bool relu) {
  static const auto op = find_op<decltype(convolve)>("ubique::convolve");
  return op.call(x, weight, bias, dilation, relu);
}

bool does_weight_gradient(const at::Tensor& gradient, const at::Tensor& x, std::int64_t kernel,
                          std::int64_t dilation) {
  static const auto op = find_op<decltype(does_weight_gradient)>("ubique::does_weight_gradient");
  return op.call(gradient, x, kernel, dilation);
}

at::Tensor weight_gradient(const at::Tensor& gradient, const at::Tensor& x, std::int64_t dilation) {
  static const auto op = find_op<decltype(weight_gradient)>("ubique::weight_gradient");
  return op.call(gradient, x, dilation);
}

}  // namespace ubique::kernels::fused
