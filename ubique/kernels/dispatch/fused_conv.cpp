// SPDX-License-Identifier: Apache-2.0
// Schemas and callers of the fused ops of convolutional networks.
#include "ubique/kernels/dispatch/fused_conv.h"

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
bool no_image_kernels(const at::Tensor&) { return false; }
bool no_image_ops(const at::Tensor&, std::int64_t) { return false; }

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {  // volumes
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

TORCH_LIBRARY_FRAGMENT(ubique, library) {  // images
  const auto everywhere = c10::DispatchKey::CompositeExplicitAutograd;
  library.def("has_picture_kernels(Tensor x) -> bool");
  library.def("does_pictures(Tensor x, int channels) -> bool");
  library.def("upsample_twice(Tensor x) -> Tensor");
  library.def("upsample_twice_backward(Tensor gradient) -> Tensor");
  library.def("max_pool(Tensor x, int stride, bool marks) -> (Tensor, Tensor)");
  library.def("max_pool_backward(Tensor gradient, Tensor where, int stride) -> Tensor");
  library.def("relu_bias_backward(Tensor gradient, Tensor y) -> (Tensor, Tensor)");
  library.def("subtract_means(Tensor image, float[] means, ScalarType dtype) -> Tensor");
  library.def("does_convolve_to_one(Tensor x) -> bool");
  library.def("convolve_to_one(Tensor x, Tensor weight, Tensor bias) -> Tensor");
  library.def("stretch(Tensor map, float epsilon) -> Tensor");
  library.impl("has_picture_kernels", everywhere, TORCH_FN(no_image_kernels));
  library.impl("does_convolve_to_one", everywhere, TORCH_FN(no_image_kernels));
  library.impl("does_pictures", everywhere, TORCH_FN(no_image_ops));
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

at::Tensor norm_act_recompute(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                              const std::optional<at::Tensor>& scale, const at::Tensor& mean,
                              const at::Tensor& inverse_deviation, std::int64_t activation) {
  static const auto op = find_op<decltype(norm_act_recompute)>("ubique::norm_act_again");
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

bool has_image_kernels(const at::Tensor& x) {
  static const auto op = find_op<decltype(has_image_kernels)>("ubique::has_picture_kernels");
  return op.call(x);
}

bool does_image_ops(const at::Tensor& x, std::int64_t channels) {
  static const auto op = find_op<decltype(does_image_ops)>("ubique::does_pictures");
  return op.call(x, channels);
}

at::Tensor upsample_twice(const at::Tensor& x) {
  static const auto op = find_op<decltype(upsample_twice)>("ubique::upsample_twice");
  return op.call(x);
}

at::Tensor upsample_twice_backward(const at::Tensor& gradient) {
  static const auto op =
      find_op<decltype(upsample_twice_backward)>("ubique::upsample_twice_backward");
  return op.call(gradient);
}

std::tuple<at::Tensor, at::Tensor> max_pool(const at::Tensor& x, std::int64_t stride, bool marks) {
  static const auto op = find_op<decltype(max_pool)>("ubique::max_pool");
  return op.call(x, stride, marks);
}

at::Tensor max_pool_backward(const at::Tensor& gradient, const at::Tensor& where,
                             std::int64_t stride) {
  static const auto op = find_op<decltype(max_pool_backward)>("ubique::max_pool_backward");
  return op.call(gradient, where, stride);
}

std::tuple<at::Tensor, at::Tensor> relu_bias_backward(const at::Tensor& gradient,
                                                      const at::Tensor& y) {
  static const auto op = find_op<decltype(relu_bias_backward)>("ubique::relu_bias_backward");
  return op.call(gradient, y);
}

at::Tensor subtract_means(const at::Tensor& image, at::ArrayRef<double> means,
                          at::ScalarType dtype) {
  static const auto op = find_op<decltype(subtract_means)>("ubique::subtract_means");
  return op.call(image, means, dtype);
}

bool does_convolve_to_one(const at::Tensor& x) {
  static const auto op = find_op<decltype(does_convolve_to_one)>("ubique::does_convolve_to_one");
  return op.call(x);
}

at::Tensor convolve_to_one(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  static const auto op = find_op<decltype(convolve_to_one)>("ubique::convolve_to_one");
  return op.call(x, weight, bias);
}

at::Tensor stretch(const at::Tensor& map, double epsilon) {
  static const auto op = find_op<decltype(stretch)>("ubique::stretch");
  return op.call(map, epsilon);
}

}  // namespace ubique::kernels::fused
