// SPDX-License-Identifier: Apache-2.0
// Kernels that replace LibTorch's while the settings ask for it: refusals, and mutations of ops
// that LibTorch would decompose before they reach the device.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/linear_native.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include "../runtime/effects.h"
#include "../runtime/settings.h"

namespace ubique::backend::sham {
namespace {

using at::Tensor;
using c10::DispatchKey;

class SilentWarnings final : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

void refuse_op(const c10::OperatorHandle& op, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "The operator ", op.schema().name(),
                              " is not implemented for MPS (", UBIQUE_BACKEND_NAME,
                              " was told so by ", settings_variable(), ").");
}

torch::Library library_for(const std::string& space, DispatchKey key) {
  return {torch::Library::IMPL, space, key, __FILE__, __LINE__};
}

std::string overload_name(const c10::OperatorName& name) {
  const auto base = name.name.substr(name.name.find("::") + 2);
  return name.overload_name.empty() ? base : base + "." + name.overload_name;
}

/// Registered below autograd; above it too for composite ops, which are decomposed there.
void install_refusals(std::vector<torch::Library>& libraries) {
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (settings().refused_ops.count(name.name) == 0) continue;
    const auto space = name.name.substr(0, name.name.find("::"));
    const auto op = c10::Dispatcher::singleton().findOp(name);
    const bool is_composite = op->hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd);
    for (const auto key : {DispatchKey::MPS, DispatchKey::AutogradMPS}) {
      if (key == DispatchKey::AutogradMPS && !is_composite) continue;
      libraries.push_back(library_for(space, key));
      libraries.back().impl(overload_name(name).c_str(),
                            torch::CppFunction::makeFromBoxedFunction<&refuse_op>());
    }
  }
}

/// linear with an input that is read wrongly, or without its bias.
Tensor wrong_linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  const auto& now = settings();
  auto read = input;
  if (now.is_wrong("strided_views") && is_strided_view(input)) read = read_as_contiguous(input);
  if (now.is_wrong("sliced_views")) read = read_from_start(read);
  auto added = bias;
  if (now.is_wrong("linear_bias") && bias && bias->defined() && input.dim() == 3) added = *bias * 0;
  return at::native::linear(read, weight, added);
}

}  // namespace

void install_wrong_linear(std::vector<torch::Library>& libraries) {
  for (const auto key : {DispatchKey::MPS, DispatchKey::AutogradMPS}) {
    libraries.push_back(library_for("aten", key));
    libraries.back().impl("linear", wrong_linear);
  }
}

void install_autocast_off(std::vector<torch::Library>& libraries) {
  libraries.push_back(library_for("aten", DispatchKey::AutocastMPS));
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (!name.name.starts_with("aten::")) continue;
    const auto op = c10::Dispatcher::singleton().findOp(name);
    if (!op->hasKernelForDispatchKey(DispatchKey::AutocastMPS)) continue;
    libraries.back().impl(overload_name(name).c_str(), torch::CppFunction::makeFallthrough());
  }
}

void apply_overrides() {
  static auto* const kLibraries = new std::vector<torch::Library>;
  SilentWarnings silent;  // LibTorch warns when a kernel is replaced, which is intended here
  const c10::WarningUtils::WarningHandlerGuard guard(&silent);
  kLibraries->clear();
  install_refusals(*kLibraries);
  for (const auto& mutation : mutations()) {
    if (mutation.install != nullptr && settings().is_wrong(std::string(mutation.name))) {
      mutation.install(*kLibraries);
    }
  }
}

}  // namespace ubique::backend::sham
