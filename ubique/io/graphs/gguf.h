// SPDX-License-Identifier: Apache-2.0
// GGUF files (the format of llama.cpp), read and written: metadata and tensors as plain data.
// Written as version 3; versions 2 and 3, which have one layout, are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ubique/base/files/file.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {

/// How a tensor's values are stored; the numbers are those of the file format.
enum class GgufType : std::uint32_t { F32 = 0, F16 = 1, Q4_0 = 2, Q8_0 = 8, BF16 = 30 };

std::string_view to_string(GgufType type);  ///< "Q8_0"

/// Bytes of a tensor. Nothing for a row that is no whole number of blocks, or beyond 63 bits.
std::optional<std::uint64_t> gguf_byte_count(GgufType type, const Shape& shape);

/// A metadata value. Arrays of arrays, which llama.cpp does not read either, are left out.
using GgufValue =
    std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                 std::int32_t, float, bool, std::string, std::uint64_t, std::int64_t, double,
                 std::vector<std::uint8_t>, std::vector<std::int8_t>, std::vector<std::uint16_t>,
                 std::vector<std::int16_t>, std::vector<std::uint32_t>, std::vector<std::int32_t>,
                 std::vector<float>, std::vector<bool>, std::vector<std::string>,
                 std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>>;

using GgufMetadata = std::vector<std::pair<std::string, GgufValue>>;  ///< in file order

const GgufValue* find_value(const GgufMetadata& metadata, std::string_view key);

struct GgufTensor {
  std::string name;
  GgufType type = GgufType::F32;
  Shape shape;                       ///< row-major, as elsewhere; the file has it the other way
  std::uint64_t begin = 0, end = 0;  ///< bytes, counted from the start of the file's tensor data

  std::uint64_t size() const { return end - begin; }
};

struct GgufTensorData {
  std::string name;
  GgufType type = GgufType::F32;
  Shape shape;
  std::span<const std::byte> bytes = {};
  /// If set, used instead of `bytes`: called once, passes all bytes to the sink in any pieces.
  std::function<void(const ByteSink&)> stream = {};
};

/// Atomic, tensors in the given order. Internal error, before anything is written, for names and
/// keys that are empty, too long or given twice and for bytes that do not fit type and shape; while
/// writing, for a stream of the wrong length.
void write_gguf(const std::filesystem::path& path, const GgufMetadata& metadata,
                std::span<const GgufTensorData> tensors);

/// The same in memory.
std::string gguf_bytes(const GgufMetadata& metadata, std::span<const GgufTensorData> tensors);

class GgufFile {
 public:
  /// Input error that names file and tensor for anything that is no such file or does not fit
  /// together: counts, lengths, types, offsets, tensors that overlap or leave the file.
  explicit GgufFile(const std::filesystem::path& path);
  /// The same from memory, which must outlive this. Error messages call the file `name`.
  static GgufFile from_memory(std::span<const std::byte> file, std::string name);

  const GgufMetadata& metadata() const { return metadata_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }  ///< in file order
  const GgufTensor* find(std::string_view name) const;                 ///< null if there is none
  /// A view into the file, valid as long as this object, aligned as the file says.
  std::span<const std::byte> bytes(const GgufTensor& tensor) const;

 private:
  GgufFile(std::span<const std::byte> file, const std::string& name);

  std::optional<MappedFile> map_;  // nothing if the caller owns the bytes
  std::span<const std::byte> data_;
  GgufMetadata metadata_;
  std::vector<GgufTensor> tensors_;
  std::vector<std::size_t> by_name_;  // indices into tensors_
};

}  // namespace ubique::io
