// SPDX-License-Identifier: Apache-2.0
// Reads one safetensors file through a memory map: opening costs the header, a tensor costs its own
// pages. The header is checked completely first: its length, its JSON, and that the tensors tile
// the data without overlap, gap or rest.
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

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;   ///< by offset
  std::vector<std::size_t> by_name;  ///< see order_by_name()
  Metadata metadata;
  std::uint64_t data_begin = 0;  ///< offset in the file; the tensors' offsets count from here
};

/// `file` is the whole file; only its header is read. Error messages call it `name`.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file,
                                           const std::string& name);

/// Everything before the data: length, JSON and padding to a multiple of 8.
std::string safetensors_header_text(const SafetensorsJson& json);

class SafetensorsFile {
 public:
  /// Input error that names file, tensor and likely cause for any fault of the header.
  explicit SafetensorsFile(const std::filesystem::path& path);
  /// The same from memory, which must outlive this. Error messages call the file `name`.
  static SafetensorsFile from_memory(std::span<const std::byte> file, std::string name);

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return file_.size(); }                         ///< of the whole file
  const std::vector<TensorInfo>& tensors() const { return header_.tensors; }  ///< in file order
  const TensorInfo* find(std::string_view name) const;  ///< null if there is none
  const Metadata& metadata() const { return header_.metadata; }

  /// A view into the map, valid as long as this object. Aligned only if the writer aligned it.
  std::span<const std::byte> bytes(const TensorInfo& tensor) const;
  /// Copies a tensor's bytes to `out`, which must have their size. Faster than copying bytes(),
  /// because it causes no page faults. Thread-safe.
  void read(const TensorInfo& tensor, std::span<std::byte> out) const;
  /// The part of a tensor's bytes that begins at `offset`. Input error if the file became shorter.
  void read_part(const TensorInfo& tensor, std::uint64_t offset, std::span<std::byte> out) const;

 private:
  SafetensorsFile(std::span<const std::byte> file, std::string name);

  std::optional<MappedFile> map_;  // nothing if the caller owns the bytes
  std::span<const std::byte> file_;
  std::string name_;
  SafetensorsHeader header_;
};

}  // namespace ubique::io
