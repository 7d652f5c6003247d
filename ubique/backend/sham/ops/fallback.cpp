// SPDX-License-Identifier: Apache-2.0
// Translates arguments and results between device and CPU, and applies mutations.
#include "fallback.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/library.h>

#include <thread>

#include "../runtime/alias.h"
#include "../runtime/allocator.h"
#include "../runtime/generator.h"
#include "../runtime/ledger.h"
#include "../runtime/mutations.h"
#include "../runtime/settings.h"
#include "copies.h"

namespace ubique::backend::sham {
namespace {

using c10::IValue;

/// Ops that accept CPU index tensors together with device tensors.
bool takes_cpu_indices(const std::string& op) {
  return op == "aten::index" || op == "aten::index_put" || op == "aten::index_put_" ||
         op == "aten::_index_put_impl_";
}

/// Converts one call's arguments for the CPU's kernel, and its results back to the device.
class Translator {
 public:
  explicit Translator(const std::string& op) : op_(op) {}

  void argument(IValue& value, const c10::Argument& declared) {
    const auto* alias = declared.alias_info();
    const bool is_written = alias != nullptr && alias->isWrite();
    if (value.isTensor()) {
      value = tensor(value.toTensor(), is_written);
    } else if (value.isTensorList()) {
      auto tensors = value.toTensorVector();
      for (auto& t : tensors) t = tensor(t, is_written);
      value = IValue(std::move(tensors));
    } else if (value.isOptionalTensorList()) {
      auto tensors = value.toOptionalTensorVector();
      for (auto& t : tensors) {
        if (t) t = tensor(*t, is_written);
      }
      value = IValue(std::move(tensors));
    } else if (value.isDevice()) {
      value = IValue(c10::Device(c10::DeviceType::CPU));
    } else if (value.isStorage()) {
      value = IValue(aliases_.to_cpu(value.toStorage()));
    } else if (value.isGenerator()) {
      value = IValue(host_twin(value.toGenerator()));
    } else if (value.isNone() && is_generator(declared)) {
      value = IValue(host_twin(default_generator()));
    }
  }

  void result(IValue& value) {
    if (value.isTensor()) {
      value = IValue(aliases_.to_device(value.toTensor()));
    } else if (value.isTensorList()) {
      auto tensors = value.toTensorVector();
      for (auto& t : tensors) t = aliases_.to_device(t);
      value = IValue(std::move(tensors));
    }
  }

  void write_back() { aliases_.write_back(); }

 private:
  static bool is_generator(const c10::Argument& declared) {
    const auto optional = declared.type()->cast<c10::OptionalType>();
    return optional && optional->getElementType()->kind() == c10::TypeKind::GeneratorType;
  }

  at::Tensor tensor(const at::Tensor& value, bool is_written) {
    const bool is_scalar = value.defined() && value.dim() == 0 && !is_written;
    TORCH_CHECK(!value.defined() || value.is_mps() ||
                    (value.is_cpu() && (is_scalar || takes_cpu_indices(op_))),
                "Expected all tensors to be on the same device, but found at least two devices, ",
                the_device(), " and ", value.device(), " (in ", op_, ")");
    return aliases_.to_cpu(value, is_written);
  }

  const std::string& op_;
  Aliases aliases_;
};

std::int64_t bytes_of(c10::ArrayRef<IValue> values) {
  std::int64_t bytes = 0;
  const auto add = [&](const at::Tensor& t) {
    if (t.defined()) bytes += static_cast<std::int64_t>(t.nbytes());
  };
  for (const auto& value : values) {
    if (value.isTensor()) add(value.toTensor());
    if (value.isTensorList()) {
      for (const auto& t : value.toTensorVector()) add(t);
    }
  }
  return bytes;
}

/// Runs the CPU's kernel, with the mutations of this op before and after it.
void call_cpu_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const auto& schema = op.schema();
  const auto [first, last] = settings().mutations.equal_range(schema.name());
  const auto first_argument = stack->size() - schema.arguments().size();
  for (auto i = first; i != last; ++i) {
    if (i->second->before != nullptr) {
      i->second->before(schema.name(), Arguments(*stack).subspan(first_argument));
    }
  }
  std::vector<IValue> given;
  if (first != last)
    given.assign(stack->begin() + static_cast<std::ptrdiff_t>(first_argument), stack->end());
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  for (auto i = first; i != last; ++i) {
    if (i->second->after != nullptr) {
      i->second->after(schema.name(), given, Results(*stack).subspan(first_argument));
    }
  }
}

}  // namespace

void begin_op(const std::string& name) {
  finish_late_copies();
  ledger().add_op(name);
  if (settings().delay.count() > 0) std::this_thread::sleep_for(settings().delay);
}

void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  begin_op(schema.name());
  const bool falls_back = settings().fallback_ops.count(schema.name()) != 0;
  Translator translator(schema.name());
  const auto count = schema.arguments().size();
  const auto first = stack->size() - count;
  std::int64_t moved = falls_back ? bytes_of(torch::jit::last(*stack, count)) : 0;
  for (std::size_t i = 0; i < count; ++i) {
    translator.argument((*stack)[first + i], schema.arguments()[i]);
  }
  call_cpu_kernel(op, stack);
  translator.write_back();
  for (std::size_t i = first; i < stack->size(); ++i) translator.result((*stack)[i]);
  if (falls_back) {
    moved += bytes_of(torch::jit::last(*stack, schema.returns().size()));
    ledger().add_fallback(schema.name(), moved);
  }
}

void install_fallback() {
  static auto* const kLibrary = new torch::Library(MAKE_TORCH_LIBRARY_IMPL(_, MPS));
  kLibrary->fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
}

}  // namespace ubique::backend::sham
