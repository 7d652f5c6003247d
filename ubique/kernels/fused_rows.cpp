// SPDX-License-Identifier: Apache-2.0
#include "ubique/kernels/fused_rows.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

namespace ubique::kernels::fused {
namespace {

/// Sums and exponentials are done in no less than f32.
at::Tensor widened(const at::Tensor& x) {
  return at::isReducedFloatingType(x.scalar_type()) ? x.to(at::kFloat) : x;
}

at::Tensor plain_swiglu(const at::Tensor& x) {
  return at::silu(x.select(1, 0)).mul_(x.select(1, 1));
}

std::tuple<at::Tensor, at::Tensor> plain_swiglu_backward(const at::Tensor& gradient,
                                                         const at::Tensor& x) {
  const auto gate = x.select(1, 0), up = x.select(1, 1);
  const auto opened = at::silu(gate);
  auto of_x = at::empty_like(x);
  of_x.select(1, 0).copy_(at::silu_backward(gradient * up, gate));
  of_x.select(1, 1).copy_(gradient * opened);
  return {of_x, opened * up};
}

std::tuple<at::Tensor, at::Tensor> plain_post_norm(const at::Tensor& x, const at::Tensor& branch,
                                                   std::int64_t dim, double epsilon) {
  const auto sum = widened(x + branch);
  const auto inverse = sum.square().mean(dim, true).add_(epsilon).rsqrt_();
  return {(sum * inverse).to(x.scalar_type()), inverse.squeeze(dim)};
}

at::Tensor plain_post_norm_backward(const at::Tensor& gradient, const at::Tensor& y,
                                    const at::Tensor& inverse, std::int64_t dim) {
  const auto wide = widened(gradient), normed = widened(y);
  const auto along = (wide * normed).mean(dim, true);
  return (wide - normed * along).mul_(inverse.unsqueeze(dim)).to(gradient.scalar_type());
}

template <typename Function>
auto find_row_op(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Function>();
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("swiglu(Tensor x) -> Tensor");
  library.def("swiglu_backward(Tensor gradient, Tensor x) -> (Tensor, Tensor)");
  library.def("post_norm(Tensor x, Tensor branch, int dim, float epsilon) -> (Tensor, Tensor)");
  library.def("post_norm_backward(Tensor gradient, Tensor y, Tensor inverse, int dim) -> Tensor");
  const auto everywhere = c10::DispatchKey::CompositeExplicitAutograd;
  library.impl("swiglu", everywhere, TORCH_FN(plain_swiglu));
  library.impl("swiglu_backward", everywhere, TORCH_FN(plain_swiglu_backward));
  library.impl("post_norm", everywhere, TORCH_FN(plain_post_norm));
  library.impl("post_norm_backward", everywhere, TORCH_FN(plain_post_norm_backward));
}

at::Tensor swiglu(const at::Tensor& x) {
  static const auto op = find_row_op<decltype(swiglu)>("ubique::swiglu");
  return op.call(x);
}

std::tuple<at::Tensor, at::Tensor> swiglu_backward(const at::Tensor& gradient,
                                                   const at::Tensor& x) {
  static const auto op = find_row_op<decltype(swiglu_backward)>("ubique::swiglu_backward");
  return op.call(gradient, x);
}

std::tuple<at::Tensor, at::Tensor> post_norm(const at::Tensor& x, const at::Tensor& branch,
                                             std::int64_t dim, double epsilon) {
  static const auto op = find_row_op<decltype(post_norm)>("ubique::post_norm");
  return op.call(x, branch, dim, epsilon);
}

at::Tensor post_norm_backward(const at::Tensor& gradient, const at::Tensor& y,
                              const at::Tensor& inverse, std::int64_t dim) {
  static const auto op = find_row_op<decltype(post_norm_backward)>("ubique::post_norm_backward");
  return op.call(gradient, y, inverse, dim);
}

}  // namespace ubique::kernels::fused
