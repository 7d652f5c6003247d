// SPDX-License-Identifier: Apache-2.0
// The Python names that a PyTorch checkpoint may contain, and the element types among them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ubique/base/numbers/dtype.h"

namespace ubique::io {

/// All names that the reader understands; parse_pickle refuses the rest.
std::span<const std::string_view> torch_globals();

/// "torch.FloatStorage" to F32; nothing for untyped storages and other names.
std::optional<DType> torch_storage_dtype(std::string_view global);
/// "FloatStorage"; empty for types that have no storage class of their own.
std::string_view torch_storage_name(DType dtype);
bool is_untyped_storage(std::string_view global);

/// "torch.float32" to F32.
std::optional<DType> torch_dtype(std::string_view global);
std::string_view torch_dtype_name(DType dtype);  ///< "float32"

}  // namespace ubique::io
