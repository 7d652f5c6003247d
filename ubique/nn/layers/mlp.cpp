// SPDX-License-Identifier: Apache-2.0
// Feed-forward layers in terms of ATen, and the names of their activations.
#include "ubique/nn/layers/mlp.h"

#include <ATen/ATen.h>

#include "ubique/base/text/names.h"
#include "ubique/kernels/decoder/gelu_mlp.h"

namespace ubique::nn {
namespace {

constexpr NameTable<Activation, 3> kActivations{
    {{Activation::Silu, "silu"}, {Activation::Gelu, "gelu"}, {Activation::GeluTanh, "gelu_tanh"}}};

bool has_gelu_kernels(const LinearWeights& first, const LinearWeights& second,
                      Activation activation) {
  return activation == Activation::GeluTanh && first.narrow.defined() && second.narrow.defined() &&
         kernels::does_biased_gelu(at::empty({1, first.outputs()}, first.narrow.options()));
}

}  // namespace

std::string_view to_string(Activation activation) { return name_of(kActivations, activation); }

Activation parse_activation(std::string_view text) {
  return parse_name(kActivations, "nn.mlp", "activation", text);
}

at::Tensor activate(const at::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::Silu:
      return at::silu(x);
    case Activation::Gelu:
      return at::gelu(x);
    case Activation::GeluTanh:
      return at::gelu(x, "tanh");
  }
  fail(ErrorKind::Internal, "[nn.mlp] unknown activation {}.", static_cast<int>(activation));
}

at::Tensor gated_mlp(const at::Tensor& x, const LinearWeights& gate, const LinearWeights& up,
                     const LinearWeights& down, Activation activation, bool training) {
  const auto gated = activate(linear(x, gate, training), activation);  // (..., I)
  return linear(gated * linear(x, up, training), down, training);
}

at::Tensor mlp(const at::Tensor& x, const LinearWeights& first, const LinearWeights& second,
               Activation activation, bool training) {
  return linear(activate(linear(x, first, training), activation), second, training);
}

kernels::Branch mlp_branch(const at::Tensor& x, const LinearWeights& first,
                           const LinearWeights& second, Activation activation,
                           const BranchOptions& options) {
  if (!has_gelu_kernels(first, second, activation)) {
    const auto hidden = activate(linear(x, first, options.training), activation);
    return linear_branch(hidden, second, options);
  }
  const auto y = kernels::gelu_mlp(cast_input(x, first), {cast_weight(first), cast_weight(second),
                                                          first.bias, options.keeps_hidden});
  if (options.leaves_bias || !second.bias.defined()) return {y, second.bias};
  return {y + second.bias.to(y.scalar_type())};
}

}  // namespace ubique::nn
