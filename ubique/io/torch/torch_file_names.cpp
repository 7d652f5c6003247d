// SPDX-License-Identifier: Apache-2.0
// The table of torch types and the list of allowed names.
#include "ubique/io/torch/torch_file_names.h"

#include <vector>

#include "ubique/base/error.h"

namespace ubique::io {
namespace {

constexpr std::string_view kTorchModule = "torch.";

struct TorchTypeRow {
  DType dtype;
  std::string_view name;
  std::string_view storage;  // empty: saved as untyped bytes
};

// clang-format off
constexpr TorchTypeRow kTorchTypes[] = {
    {DType::F32, "torch.float32", "torch.FloatStorage"},
    {DType::F16, "torch.float16", "torch.HalfStorage"},
    {DType::BF16, "torch.bfloat16", "torch.BFloat16Storage"},
    {DType::F64, "torch.float64", "torch.DoubleStorage"},
    {DType::I64, "torch.int64", "torch.LongStorage"},
    {DType::I32, "torch.int32", "torch.IntStorage"},
    {DType::I16, "torch.int16", "torch.ShortStorage"},
    {DType::I8, "torch.int8", "torch.CharStorage"},
    {DType::U8, "torch.uint8", "torch.ByteStorage"},
    {DType::Bool, "torch.bool", "torch.BoolStorage"},
    {DType::C64, "torch.complex64", "torch.ComplexFloatStorage"},
    {DType::U16, "torch.uint16", ""},
    {DType::U32, "torch.uint32", ""},
    {DType::U64, "torch.uint64", ""},
    {DType::F8E4M3, "torch.float8_e4m3fn", ""},
    {DType::F8E5M2, "torch.float8_e5m2", ""},
};

// Besides the types above. Modules of Python 2 occur too, because protocol 2 writes the old names.
constexpr std::string_view kOtherGlobals[] = {
    "collections.OrderedDict",
    "torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_tensor_v3",
    "torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state",
    "torch._tensor._rebuild_from_type_v2", "torch.Tensor", "torch.nn.parameter.Parameter",
    "torch.storage.UntypedStorage", "torch.UntypedStorage",
    "torch.Size", "torch.device",
    "builtins.set", "__builtin__.set", "builtins.frozenset", "__builtin__.frozenset",
    "builtins.bytes", "__builtin__.bytes", "builtins.bytearray", "__builtin__.bytearray",
    "_codecs.encode",
    "numpy._core.multiarray.scalar", "numpy.core.multiarray.scalar", "numpy.dtype",
};
// clang-format on

const TorchTypeRow& torch_row(DType dtype) {
  for (const auto& row : kTorchTypes) {
    if (row.dtype == dtype) return row;
  }
  fail(ErrorKind::Internal, "[io.torch_file] no PyTorch name for dtype {}.", to_string(dtype));
}

}  // namespace

std::span<const std::string_view> torch_globals() {
  static const auto kAll = [] {
    std::vector<std::string_view> all(std::begin(kOtherGlobals), std::end(kOtherGlobals));
    for (const auto& row : kTorchTypes) {
      all.push_back(row.name);
      if (!row.storage.empty()) all.push_back(row.storage);
    }
    return all;
  }();
  return kAll;
}

std::optional<DType> torch_storage_dtype(std::string_view global) {
  for (const auto& row : kTorchTypes) {
    if (!row.storage.empty() && row.storage == global) return row.dtype;
  }
  return std::nullopt;
}

std::string_view torch_storage_name(DType dtype) {
  const auto storage = torch_row(dtype).storage;
  return storage.empty() ? storage : storage.substr(kTorchModule.size());
}

bool is_untyped_storage(std::string_view global) {
  return global == "torch.storage.UntypedStorage" || global == "torch.UntypedStorage";
}

std::optional<DType> torch_dtype(std::string_view global) {
  for (const auto& row : kTorchTypes) {
    if (row.name == global) return row.dtype;
  }
  return std::nullopt;
}

std::string_view torch_dtype_name(DType dtype) {
  return torch_row(dtype).name.substr(kTorchModule.size());
}

}  // namespace ubique::io
