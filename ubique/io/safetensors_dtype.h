// SPDX-License-Identifier: Apache-2.0
// How safetensors spells element types, and the order in which its writers sort by them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ubique/base/dtype.h"

namespace ubique::io {

std::string_view safetensors_name(DType dtype);  ///< "BF16", "F8_E4M3"
std::optional<DType> safetensors_dtype(std::string_view name);
std::string safetensors_dtypes();  ///< all names, for messages
/// Place of a dtype in the order in which tensors are written: larger alignment first.
int safetensors_rank(DType dtype);

}  // namespace ubique::io
