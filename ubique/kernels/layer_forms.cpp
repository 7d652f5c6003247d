// SPDX-License-Identifier: Apache-2.0
#include "ubique/kernels/layer_forms.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/text.h"

namespace ubique::kernels {
namespace {

template <typename Form, std::size_t Count>
using FormNames = std::array<std::pair<Form, std::string_view>, Count>;

constexpr FormNames<Activation, 5> kActivationNames = {{
    {Activation::None, "none"},
    {Activation::Relu, "relu"},
    {Activation::Elu, "elu"},
    {Activation::Gelu, "gelu"},
    {Activation::GeluTanh, "gelu_tanh"},
}};
constexpr FormNames<Norm, 3> kNormNames = {
    {{Norm::Batch, "batch"}, {Norm::Instance, "instance"}, {Norm::None, "none"}}};

template <typename Form, std::size_t Count>
std::string_view form_name(const FormNames<Form, Count>& names, Form form) {
  for (const auto& [value, name] : names) {
    if (value == form) return name;
  }
  fail(ErrorKind::Internal, "[kernels.forms] no name for value {}.", static_cast<int>(form));
}

template <typename Form, std::size_t Count>
Form parse_form(const FormNames<Form, Count>& names, std::string_view what, std::string_view text) {
  std::vector<std::string> known;
  for (const auto& [value, name] : names) {
    if (text == name) return value;
    known.emplace_back(name);
  }
  fail(ErrorKind::Usage, "[kernels.forms] unknown {}; got '{}', expected one of {}.{}", what, text,
       join(known, ", "), hint(text, known));
}

}  // namespace

std::string_view to_string(Activation activation) {
  return form_name(kActivationNames, activation);
}
std::string_view to_string(Norm norm) { return form_name(kNormNames, norm); }

Activation parse_activation(std::string_view text) {
  return parse_form(kActivationNames, "activation", text);
}
Norm parse_norm(std::string_view text) { return parse_form(kNormNames, "norm", text); }

}  // namespace ubique::kernels
