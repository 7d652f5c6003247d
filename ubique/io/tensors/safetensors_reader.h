// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file, checked completely before anything in it is trusted: its
// length, its JSON, and that the tensors tile the data without overlap, hole or rest.
// Reads one safetensors file through a memory map: opening costs the header, a tensor costs its own
// pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/files/file.h"
#include "ubique/io/tensors/safetensors_json.h"

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
