// SPDX-License-Identifier: Apache-2.0
// How safetensors spells element types, and the order in which its writers sort by them.
// The JSON inside a safetensors file, both ways. Says what the text says; whether its numbers fit
// together and into the file is safetensors_header's business.
#pragma once

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
/// Place of a dtype in the order in which tensors are written: larger alignment first.
int safetensors_rank(DType dtype);

using Metadata = std::map<std::string, std::string>;

inline constexpr std::string_view kMetadataKey = "__metadata__";

struct SafetensorsJson {
  std::vector<TensorInfo> tensors;  ///< in the order of the text
  Metadata metadata;
};

/// Input error for text that is not JSON, for anything but the format's own keys and types, for
/// keys given twice, for numbers that are negative, fractional or too large. Names given twice are
/// found by safetensors_header. Reads in one pass and keeps nothing that it would not return.
SafetensorsJson parse_safetensors_json(std::string_view text, const std::string& file);

/// One line without blanks, metadata first, tensors in the given order: as Python writes it.
/// Internal error for names that are not UTF-8.
std::string safetensors_json_text(const SafetensorsJson& json);

}  // namespace ubique::io
