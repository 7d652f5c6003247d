// SPDX-License-Identifier: Apache-2.0
#include "ubique/kernels/dispatch/fused_mlp.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include "ubique/kernels/dispatch/find_op.h"

namespace ubique::kernels::fused {
namespace {

bool no_token_mix(const at::Tensor&, std::int64_t) { return false; }

bool no_channel_gate(const at::Tensor&) { return false; }

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_token_mix(Tensor gate_up, int width) -> bool");
  library.def("pack_token_mix(Tensor gate_up, Tensor down, bool backward) -> Tensor");
  library.def("token_mix(Tensor x, Tensor packed, float epsilon) -> (Tensor, Tensor)");
  library.def(
      "token_mix_backward(Tensor of_sum, Tensor x, Tensor packed) -> (Tensor, Tensor, Tensor)");
  library.impl("does_token_mix", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_token_mix));
  library.def("does_channel_gate(Tensor gate_up) -> bool");
  library.def("pack_channel_gate(Tensor weight, bool backward) -> Tensor");
  library.def("channel_gate(Tensor x, Tensor packed, bool keep) -> (Tensor, Tensor)");
  library.def(
      "channel_gate_backward(Tensor of_sum, Tensor packed, Tensor wide) -> (Tensor, Tensor)");
  library.impl("does_channel_gate", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_channel_gate));
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
