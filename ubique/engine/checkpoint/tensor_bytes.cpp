// SPDX-License-Identifier: Apache-2.0
// The table of element types, and copies between torch tensors and host tensors.
#include "ubique/engine/checkpoint/tensor_bytes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "ubique/base/error.h"

namespace ubique::engine {
namespace {

constexpr std::pair<DType, at::ScalarType> kScalarTypes[] = {
    {DType::Bool, at::kBool},
    {DType::U8, at::kByte},
    {DType::I8, at::kChar},
    {DType::U16, at::kUInt16},
    {DType::I16, at::kShort},
    {DType::U32, at::kUInt32},
    {DType::I32, at::kInt},
    {DType::U64, at::kUInt64},
    {DType::I64, at::kLong},
    {DType::F8E4M3, at::kFloat8_e4m3fn},
    {DType::F8E5M2, at::kFloat8_e5m2},
    {DType::F16, at::kHalf},
    {DType::BF16, at::kBFloat16},
    {DType::F32, at::kFloat},
    {DType::F64, at::kDouble},
    {DType::C64, at::kComplexFloat},
};

std::size_t size_in_bytes(const at::Tensor& host) {
  check(host.device().is_cpu() && host.is_contiguous(), ErrorKind::Internal,
        "[engine.tensor] only a contiguous host tensor has its bytes in file order.");
  return host.nbytes();
}

}  // namespace

DType dtype_of(const at::Tensor& tensor) {
  const auto* found =
      std::find_if(std::begin(kScalarTypes), std::end(kScalarTypes),
                   [&](const auto& entry) { return entry.second == tensor.scalar_type(); });
  check(found != std::end(kScalarTypes), ErrorKind::Internal,
        "[engine.tensor] no file holds tensors of this element type; got {}.",
        c10::toString(tensor.scalar_type()));
  return found->first;
}

at::ScalarType scalar_type_of(DType dtype) {
  const auto* found = std::find_if(std::begin(kScalarTypes), std::end(kScalarTypes),
                                   [&](const auto& entry) { return entry.first == dtype; });
  check(found != std::end(kScalarTypes), ErrorKind::Internal,
        "[engine.tensor] torch has no element type {}.", to_string(dtype));
  return found->second;
}

at::Tensor to_host(const at::Tensor& tensor) {
  check(tensor.defined() && tensor.layout() == at::kStrided && !tensor.is_quantized(),
        ErrorKind::Internal, "[engine.tensor] only dense tensors can be written; got {}.",
        tensor.defined() ? "a sparse or quantized one" : "an undefined one");
  return tensor.detach().cpu().resolve_conj().resolve_neg().contiguous();
}

std::span<const std::byte> bytes_of(const at::Tensor& host) {
  return {static_cast<const std::byte*>(host.const_data_ptr()), size_in_bytes(host)};
}

std::span<std::byte> writable_bytes_of(at::Tensor& host) {
  return {static_cast<std::byte*>(host.mutable_data_ptr()), size_in_bytes(host)};
}

at::Tensor torch_tensor(const io::HostTensor& tensor) {
  auto value = at::empty(tensor.shape, scalar_type_of(tensor.dtype));
  const auto bytes = writable_bytes_of(value);
  std::copy(tensor.bytes.begin(), tensor.bytes.end(), bytes.begin());
  return value;
}

io::HostTensor host_tensor_of(const std::string& name, const at::Tensor& tensor) {
  const auto host = to_host(tensor);
  const auto bytes = bytes_of(host);
  return {name, dtype_of(host), host.sizes().vec(), {bytes.begin(), bytes.end()}};
}

}  // namespace ubique::engine
