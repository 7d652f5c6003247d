// SPDX-License-Identifier: Apache-2.0
// Reads one safetensors file through a memory map: opening costs the header, a tensor costs its own
// pages.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/file.h"
#include "ubique/io/safetensors_header.h"

namespace ubique::io {

class SafetensorsFile {
 public:
  /// Input error that names file, tensor and likely cause for anything wrong in the header.
  explicit SafetensorsFile(const std::filesystem::path& path);
  /// The same from memory, which must outlive this. `name` stands for the file in messages.
  static SafetensorsFile from_memory(std::span<const std::byte> file, std::string name);

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return file_.size(); }                         ///< of the whole file
  const std::vector<TensorInfo>& tensors() const { return header_.tensors; }  ///< in file order
  const TensorInfo* find(std::string_view name) const;  ///< null if there is none
  const Metadata& metadata() const { return header_.metadata; }

  /// A view into the map, gone with this object. Aligned for the dtype only if the writer did so.
  std::span<const std::byte> bytes(const TensorInfo& tensor) const;
  /// Copies a tensor's bytes to `out`, which has exactly their size. Faster than copying bytes():
  /// it does not pay a page fault for each page of the map. Safe from several threads.
  void read(const TensorInfo& tensor, std::span<std::byte> out) const;

 private:
  SafetensorsFile(std::span<const std::byte> file, std::string name);

  std::optional<MappedFile> map_;  // none: the bytes are someone else's
  std::span<const std::byte> file_;
  std::string name_;
  SafetensorsHeader header_;
};

}  // namespace ubique::io
