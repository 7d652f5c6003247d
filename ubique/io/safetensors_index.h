// SPDX-License-Identifier: Apache-2.0
// model.safetensors.index.json: which file of a model in several files holds which tensor. Only the
// text; safetensors_set opens the files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ubique::io {

inline constexpr std::string_view kSafetensorsFile = "model.safetensors";
inline constexpr std::string_view kSafetensorsIndexFile = "model.safetensors.index.json";

struct SafetensorsIndex {
  std::map<std::string, std::string> weight_map;  ///< tensor -> file name in the index's folder
  std::optional<std::uint64_t> total_size;        ///< bytes of all tensors, as the writer counted

  std::vector<std::string> shards() const;  ///< file names, sorted
};

/// Input error for what is not such an index, for keys given twice, and for file names that lead
/// out of the folder. `where` stands for the file in messages.
SafetensorsIndex parse_safetensors_index(std::string_view text, const std::string& where);

std::string safetensors_index_text(const SafetensorsIndex& index);

}  // namespace ubique::io
