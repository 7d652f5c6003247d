// SPDX-License-Identifier: Apache-2.0
// A model in one or several safetensors files, seen as one: opened by a file, by an index
// (model.safetensors.index.json, which maps tensors to files), or by a folder with one of these.
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
#include "ubique/io/tensors/tensor_stats.h"

namespace ubique::io {

inline constexpr std::string_view kSafetensorsFile = "model.safetensors";
inline constexpr std::string_view kSafetensorsIndexFile = "model.safetensors.index.json";

struct SafetensorsIndex {
  std::map<std::string, std::string> weight_map;  ///< tensor -> file name in the index's folder
  std::optional<std::uint64_t> total_size;        ///< bytes of all tensors, as the writer counted

  std::vector<std::string> shards() const;  ///< file names, sorted
};

/// Input error for text that is no such index, for keys given twice, and for file names that leave
/// the folder. Error messages call the file `where`.
SafetensorsIndex parse_safetensors_index(std::string_view text, const std::string& where);

std::string safetensors_index_text(const SafetensorsIndex& index);

class SafetensorsSet {
 public:
  /// In a folder: model.safetensors (as in Python), else model.safetensors.index.json, else the
  /// only other index or .safetensors file. Input error that names the missing file or tensor.
  explicit SafetensorsSet(const std::filesystem::path& path);

  const std::vector<SafetensorsFile>& files() const { return files_; }
  /// File by file, each in file order. With an index, only the tensors that it names.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const TensorInfo* find(std::string_view name) const;  ///< null if there is none
  const Metadata& metadata() const {
    return metadata_;
  }  ///< of all files; for equal keys, of the first
  /// Bytes of all tensors according to the index; nothing without one.
  std::optional<std::uint64_t> stated_size() const { return stated_size_; }

  const SafetensorsFile& file_of(const TensorInfo& tensor) const;
  std::span<const std::byte> bytes(const TensorInfo& tensor) const;
  void read(const TensorInfo& tensor, std::span<std::byte> out) const;
  /// Reads the file instead of its map: Input error if it becomes shorter meanwhile.
  std::optional<TensorStats> stats(const TensorInfo& tensor) const;

 private:
  void open_index(const std::filesystem::path& path);

  std::vector<SafetensorsFile> files_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::size_t> file_numbers_;  // index into files_ for each of tensors_
  std::vector<std::size_t> by_name_;
  Metadata metadata_;
  std::optional<std::uint64_t> stated_size_;
};

}  // namespace ubique::io
