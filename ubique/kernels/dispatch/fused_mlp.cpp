// SPDX-License-Identifier: Apache-2.0
// Schemas and callers of the fused ops of gated MLPs, with the plain ops for swiglu and post_norm.
#include "ubique/kernels/dispatch/fused_mlp.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include "ubique/kernels/dispatch/find_op.h"

namespace ubique::kernels::fused {
namespace {

/// Sums and squares are computed in at least f32.
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

bool no_rows(const at::Tensor&, std::int64_t) { return false; }

bool does_rows(const at::Tensor& x, std::int64_t width) {
  static const auto op = find_op<decltype(does_rows)>("ubique::does_rows");
  return op.call(x, width);
}

/// The kernel holds a whole row in registers.
bool does_norm(const at::Tensor& x) {
  constexpr std::int64_t kMaxNormed = 4096;
  return x.size(2) <= kMaxNormed && does_rows(x, x.size(2));
}

bool no_token_mix(const at::Tensor&, std::int64_t) { return false; }
bool no_channel_gate(const at::Tensor&) { return false; }

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  const auto everywhere = c10::DispatchKey::CompositeExplicitAutograd;
  library.def("does_rows(Tensor x, int width) -> bool");
  library.def("swiglu(Tensor x) -> Tensor");
  library.def("swiglu_backward(Tensor gradient, Tensor x) -> (Tensor, Tensor)");
  library.def("post_norm(Tensor x, Tensor branch, int dim, float epsilon) -> (Tensor, Tensor)");
  library.def("post_norm_backward(Tensor gradient, Tensor y, Tensor inverse, int dim) -> Tensor");
  library.impl("does_rows", everywhere, TORCH_FN(no_rows));
  library.def("does_token_mix(Tensor gate_up, int width) -> bool");
  library.def("pack_token_mix(Tensor gate_up, Tensor down, bool backward) -> Tensor");
  library.def("token_mix(Tensor x, Tensor packed, float epsilon) -> (Tensor, Tensor)");
  library.def(
      "token_mix_backward(Tensor of_sum, Tensor x, Tensor packed) -> (Tensor, Tensor, Tensor)");
  library.impl("does_token_mix", everywhere, TORCH_FN(no_token_mix));
  library.def("does_channel_gate(Tensor gate_up) -> bool");
  library.def("pack_channel_gate(Tensor weight, bool backward) -> Tensor");
  library.def("channel_gate(Tensor x, Tensor packed, bool keep) -> (Tensor, Tensor)");
  library.def(
      "channel_gate_backward(Tensor of_sum, Tensor packed, Tensor wide) -> (Tensor, Tensor)");
  library.impl("does_channel_gate", everywhere, TORCH_FN(no_channel_gate));
}

at::Tensor swiglu(const at::Tensor& x) {
  if (!does_rows(x, x.size(2))) return plain_swiglu(x);
  static const auto op = find_op<decltype(swiglu)>("ubique::swiglu");
  return op.call(x);
}

std::tuple<at::Tensor, at::Tensor> swiglu_backward(const at::Tensor& gradient,
                                                   const at::Tensor& x) {
  if (!does_rows(x, x.size(2))) return plain_swiglu_backward(gradient, x);
  static const auto op = find_op<decltype(swiglu_backward)>("ubique::swiglu_backward");
  return op.call(gradient.contiguous(), x);
}

std::tuple<at::Tensor, at::Tensor> post_norm(const at::Tensor& x, const at::Tensor& branch,
                                             std::int64_t dim, double epsilon) {
  if (!does_norm(x)) return plain_post_norm(x, branch, dim, epsilon);
  static const auto op = find_op<decltype(post_norm)>("ubique::post_norm");
  return op.call(x, branch.contiguous(), dim, epsilon);
}

at::Tensor post_norm_backward(const at::Tensor& gradient, const at::Tensor& y,
                              const at::Tensor& inverse, std::int64_t dim) {
  if (!does_norm(y)) return plain_post_norm_backward(gradient, y, inverse, dim);
  static const auto op = find_op<decltype(post_norm_backward)>("ubique::post_norm_backward");
  return op.call(gradient.contiguous(), y, inverse, dim);
}

bool does_token_mix(const at::Tensor& gate_up, std::int64_t width) {
  static const auto op = find_op<decltype(does_token_mix)>("ubique::does_token_mix");
  return op.call(gate_up, width);
}

at::Tensor pack_token_mix(const at::Tensor& gate_up, const at::Tensor& down, bool backward) {
  static const auto op = find_op<decltype(pack_token_mix)>("ubique::pack_token_mix");
  return op.call(gate_up, down, backward);
}

std::tuple<at::Tensor, at::Tensor> token_mix(const at::Tensor& x, const at::Tensor& packed,
                                             double epsilon) {
  static const auto op = find_op<decltype(token_mix)>("ubique::token_mix");
  return op.call(x, packed, epsilon);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> token_mix_backward(const at::Tensor& of_sum,
                                                                  const at::Tensor& x,
                                                                  const at::Tensor& packed) {
  static const auto op = find_op<decltype(token_mix_backward)>("ubique::token_mix_backward");
  return op.call(of_sum, x, packed);
}

bool does_channel_gate(const at::Tensor& gate_up) {
  static const auto op = find_op<decltype(does_channel_gate)>("ubique::does_channel_gate");
  return op.call(gate_up);
}

at::Tensor pack_channel_gate(const at::Tensor& weight, bool backward) {
  static const auto op = find_op<decltype(pack_channel_gate)>("ubique::pack_channel_gate");
  return op.call(weight, backward);
}

std::tuple<at::Tensor, at::Tensor> channel_gate(const at::Tensor& x, const at::Tensor& packed,
                                                bool keep) {
  static const auto op = find_op<decltype(channel_gate)>("ubique::channel_gate");
  return op.call(x, packed, keep);
}

std::tuple<at::Tensor, at::Tensor> channel_gate_backward(const at::Tensor& of_sum,
                                                         const at::Tensor& packed,
                                                         const at::Tensor& wide) {
  static const auto op = find_op<decltype(channel_gate_backward)>("ubique::channel_gate_backward");
  return op.call(of_sum, packed, wide);
}

}  // namespace ubique::kernels::fused
