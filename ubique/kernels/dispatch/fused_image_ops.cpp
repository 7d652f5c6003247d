// SPDX-License-Identifier: Apache-2.0
#include "ubique/kernels/dispatch/fused_image_ops.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include "ubique/kernels/dispatch/find_op.h"

namespace ubique::kernels::fused {
namespace {

bool no_picture_kernels(const at::Tensor&) { return false; }
bool no_pictures(const at::Tensor&, std::int64_t) { return false; }

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
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
  library.impl("has_picture_kernels", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_picture_kernels));
  library.impl("does_convolve_to_one", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_picture_kernels));
  library.impl("does_pictures", c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(no_pictures));
}

bool has_picture_kernels(const at::Tensor& x) {
  static const auto op = find_op<decltype(has_picture_kernels)>("ubique::has_picture_kernels");
  return op.call(x);
}

bool does_pictures(const at::Tensor& x, std::int64_t channels) {
  static const auto op = find_op<decltype(does_pictures)>("ubique::does_pictures");
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
