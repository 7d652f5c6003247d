// SPDX-License-Identifier: Apache-2.0
// Names of norms and activations.
#include "ubique/kernels/conv/activation.h"

#include "ubique/base/text/names.h"

namespace ubique::kernels {
namespace {

constexpr NameTable<Activation, 5> kActivationNames = {{
    {Activation::None, "none"},
    {Activation::Relu, "relu"},
    {Activation::Elu, "elu"},
    {Activation::Gelu, "gelu"},
    {Activation::GeluTanh, "gelu_tanh"},
}};
constexpr NameTable<Norm, 3> kNormNames = {
    {{Norm::Batch, "batch"}, {Norm::Instance, "instance"}, {Norm::None, "none"}}};

}  // namespace

std::string_view to_string(Activation activation) { return name_of(kActivationNames, activation); }
std::string_view to_string(Norm norm) { return name_of(kNormNames, norm); }

Activation parse_activation(std::string_view text) {
  return parse_name(kActivationNames, "kernels.forms", "activation", text);
}
Norm parse_norm(std::string_view text) {
  return parse_name(kNormNames, "kernels.forms", "norm", text);
}

}  // namespace ubique::kernels
