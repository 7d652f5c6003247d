// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file, checked completely before anything in it is trusted: its
// length, its JSON, and that the tensors tile the data without overlap, hole or rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ubique/io/safetensors_json.h"

namespace ubique::io {

/// A header that says it is longer is refused; other readers of the format have the same limit.
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  ///< in the order of their bytes
  std::vector<std::size_t> by_name;
  Metadata metadata;
  std::uint64_t data_begin = 0;  ///< where in the file the tensors' offsets count from
};

/// `file` is the whole file; only its header is read. `name` stands for it in messages.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file,
                                           const std::string& name);

/// Length, JSON and padding: what comes before the data. The data then starts at a multiple of 8.
std::string safetensors_header_text(const SafetensorsJson& json);

}  // namespace ubique::io
