// SPDX-License-Identifier: Apache-2.0
// The JSON header of a safetensors file, read and written, and its names of element types. Checks
// the syntax only; safetensors_reader checks that the numbers fit together and into the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/numbers/dtype.h"
#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {

std::string_view safetensors_name(DType dtype);  ///< "BF16", "F8_E4M3"
std::optional<DType> safetensors_dtype(std::string_view name);
std::string safetensors_dtypes();  ///< all names, for messages
/// Position of a dtype in the order in which tensors are written: larger alignment first.
int safetensors_rank(DType dtype);

using Metadata = std::map<std::string, std::string>;

inline constexpr std::string_view kMetadataKey = "__metadata__";

/// The largest published models have fewer in all their files together.
inline constexpr std::size_t kMaxSafetensorsTensors = 1U << 17U;

struct SafetensorsJson {
  std::vector<TensorInfo> tensors;  ///< in the order of the header
  Metadata metadata;
};

/// Input error for text that is not JSON, for anything but the format's own keys and types, for
/// keys given twice, for numbers that are negative, fractional or too large, for too many tensors.
/// Tensor names given twice are found by parse_safetensors_header. One pass; builds no JSON tree.
SafetensorsJson parse_safetensors_json(std::string_view text, const std::string& file);

/// One line without spaces, metadata first, tensors in the given order: as Python writes it.
/// Internal error for names that are not UTF-8.
std::string safetensors_json_text(const SafetensorsJson& json);

}  // namespace ubique::io
