// SPDX-License-Identifier: Apache-2.0
// Kernels for creating, resizing and viewing tensors, dropout and convolution.
#include "kernels.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/native/ConvUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include <algorithm>

#include "../runtime/allocator.h"
#include "../runtime/settings.h"
#include "copies.h"
#include "fallback.h"

namespace ubique::backend::sham {
namespace {

using at::IntArrayRef;
using at::Tensor;
using std::optional;

const c10::DispatchKeySet kMpsKeys(c10::DispatchKey::MPS);

/// The dtype of a new tensor; throws if the device refuses it.
at::ScalarType new_dtype(optional<at::ScalarType> asked) {
  const auto dtype = asked.value_or(c10::get_default_dtype_as_scalartype());
  refuse_dtype(dtype);
  // float64 gets here only with wrong=float64_silent.
  return dtype == at::kDouble ? at::kFloat : dtype;
}

void check_layout(optional<at::Layout> layout) {
  TORCH_CHECK(layout.value_or(at::kStrided) == at::kStrided, "MPS has no ", *layout, " tensors");
}

Tensor empty_memory_format(IntArrayRef size, optional<at::ScalarType> dtype,
                           optional<at::Layout> layout, optional<at::Device>, optional<bool>,
                           optional<at::MemoryFormat> format) {
  check_layout(layout);
  return at::detail::empty_generic(size, &allocator(), kMpsKeys, new_dtype(dtype), format);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, optional<at::ScalarType> dtype,
                     optional<at::Layout> layout, optional<at::Device>, optional<bool>) {
  check_layout(layout);
  return at::detail::empty_strided_generic(size, stride, &allocator(), kMpsKeys, new_dtype(dtype));
}

/// The CPU's version has no storage, so there is nothing to share.
Tensor efficient_zeros(IntArrayRef size, optional<at::ScalarType> dtype, optional<at::Layout>,
                       optional<at::Device>, optional<bool>) {
  return at::zeros(size, at::TensorOptions(the_device()).dtype(new_dtype(dtype)));
}

const Tensor& resize(const Tensor& self, IntArrayRef size, optional<at::MemoryFormat> format) {
  auto* impl = self.unsafeGetTensorImpl();
  const auto elements = c10::multiply_integers(size) + self.storage_offset();
  const auto bytes = static_cast<std::size_t>(elements) * self.element_size();
  if (self.storage().nbytes() < bytes) {
    at::native::resize_bytes_cpu(self.storage().unsafeGetStorageImpl(), bytes);
  }
  impl->set_sizes_contiguous(size);
  if (format && *format != at::MemoryFormat::Preserve) impl->empty_tensor_restride(*format);
  return self;
}

Tensor view(const Tensor& self, IntArrayRef size) { return at::native::view(self, size); }

Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                  optional<std::int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

/// Uses the device's generator; the CPU's kernel would use the host's.
std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, optional<bool> train) {
  const auto mask = at::empty_like(input, input.options().dtype(at::kBool));
  if (!train.value_or(true) || p == 0) return {input.clone(), mask.fill_(true)};
  mask.bernoulli_(1 - p);
  return {p < 1 ? input * mask * (1 / (1 - p)) : at::zeros_like(input), mask};
}

void record_stream(Tensor&, c10::Stream) {}  // there is only one stream

/// A convolution parameter, one value per spatial dimension; a single value applies to all.
std::vector<std::int64_t> per_dimension(const c10::IValue& value, std::int64_t count) {
  auto given = value.toIntVector();
  if (given.size() == 1) given.resize(static_cast<std::size_t>(count), given[0]);
  return given;
}

/// Bytes of the result; 0 for inconsistent shapes, for which the CPU's kernel reports the error.
std::int64_t convolution_bytes(c10::ArrayRef<c10::IValue> arguments) {
  const auto input = arguments[0].toTensor(), weight = arguments[1].toTensor();
  const auto count = input.dim() - 2;
  if (count < 1 || weight.dim() != input.dim()) return 0;
  const auto stride = per_dimension(arguments[3], count);
  const auto padding = per_dimension(arguments[4], count);
  const auto dilation = per_dimension(arguments[5], count);
  const auto output_padding = per_dimension(arguments[7], count);
  for (const auto* each : {&stride, &padding, &dilation, &output_padding}) {
    if (static_cast<std::int64_t>(each->size()) != count) return 0;
  }
  if (std::find(stride.begin(), stride.end(), 0) != stride.end()) return 0;
  const auto size =
      arguments[6].toBool()
          ? at::native::conv_input_size(input.sizes(), weight.sizes(), padding, output_padding,
                                        stride, dilation, arguments[8].toInt())
          : at::native::conv_output_size(input.sizes(), weight.sizes(), padding, stride, dilation);
  return c10::multiply_integers(size) * static_cast<std::int64_t>(input.element_size());
}

/// LibTorch would look for its compiled Metal convolution. Checks the size of the result before the
/// CPU allocates it.
void convolution(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  refuse_large_buffer(convolution_bytes(torch::jit::last(*stack, op.schema().arguments().size())));
  run_on_cpu(op, stack);
}

}  // namespace

void install_kernels() {
  static auto* const kLibrary = new torch::Library(MAKE_TORCH_LIBRARY_IMPL(aten, MPS));
  auto& library = *kLibrary;
  library.impl("empty.memory_format", empty_memory_format);
  library.impl("empty_strided", empty_strided);
  library.impl("_efficientzerotensor", efficient_zeros);
  library.impl("resize_", resize);
  library.impl("copy_", copy_tensor);
  library.impl("_local_scalar_dense", read_scalar);
  library.impl("view", view);
  library.impl("as_strided", as_strided);
  library.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  library.impl("unfold", TORCH_FN(at::native::unfold));
  library.impl("record_stream", record_stream);
  library.impl("native_dropout", native_dropout);
  library.impl("convolution", torch::CppFunction::makeFromBoxedFunction<&convolution>());
  // Without a kernel registered here LibTorch would decompose these, although the CPU has a kernel.
  for (const char* op : {"convolution_backward", "native_layer_norm", "native_group_norm",
                         "mse_loss", "smooth_l1_loss"}) {
    library.impl(op, torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
  }
}

}  // namespace ubique::backend::sham
