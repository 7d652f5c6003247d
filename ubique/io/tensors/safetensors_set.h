// SPDX-License-Identifier: Apache-2.0
// model.safetensors.index.json: which file of a model in several files holds which tensor. Only the
// text; safetensors_set opens the files.
// A model in safetensors, in one file or several, seen as one: a file, an index or a folder with
// one of these.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/io/tensors/safetensors_reader.h"

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

class SafetensorsSet {
 public:
  /// A folder may hold model.safetensors (taken first, as Python does), its index, or exactly one
  /// other .safetensors file or index. Input error that names the missing file or tensor.
  explicit SafetensorsSet(const std::filesystem::path& path);

  const std::vector<SafetensorsFile>& files() const { return files_; }
  /// File by file, each in its order. With an index, only what it names.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const TensorInfo* find(std::string_view name) const;    ///< null if there is none
  const Metadata& metadata() const { return metadata_; }  ///< of all files; the first has its way
  /// What the index says all tensors take; nothing without one.
  std::optional<std::uint64_t> stated_size() const { return stated_size_; }

  const SafetensorsFile& file_of(const TensorInfo& tensor) const;
  std::span<const std::byte> bytes(const TensorInfo& tensor) const;
  void read(const TensorInfo& tensor, std::span<std::byte> out) const;

 private:
  void open_index(const std::filesystem::path& path);

  std::vector<SafetensorsFile> files_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::size_t> file_numbers_;  // of tensors_
  std::vector<std::size_t> by_name_;
  Metadata metadata_;
  std::optional<std::uint64_t> stated_size_;
};

}  // namespace ubique::io
