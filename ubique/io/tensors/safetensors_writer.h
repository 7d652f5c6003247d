// SPDX-License-Identifier: Apache-2.0
// Writes safetensors files, in the order and spelling of Python's serializer, so that a file read
// and written again has the same bytes. Streams: a large file needs no copy in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ubique/io/tensors/safetensors_json.h"

namespace ubique::io {

/// Takes the next bytes of a tensor, row-major and little-endian.
using ByteSink = std::function<void(std::span<const std::byte>)>;

struct TensorData {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::span<const std::byte> bytes;
  /// If given, used instead of `bytes`: called once, gives all bytes to the sink in any pieces.
  std::function<void(const ByteSink&)> stream = {};
};

/// Atomic: the file appears complete or not at all. Internal error, before anything is written, for
/// names that are empty, reserved, given twice or not UTF-8 and for bytes that do not fit the
/// shape. (A stream of the wrong length is found out while writing; then no file appears.) Metadata
/// is written in the order of its keys.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorData> tensors,
                       const Metadata& metadata = {});

/// Writes a folder that SafetensorsSet and Python open: model.safetensors if all fits into
/// max_shard_bytes, else model-00001-of-0000N.safetensors and model.safetensors.index.json, which
/// is written last; an index or single file from before is removed. Tensors fill the shards in the
/// order given; one that is larger than the limit gets its own. Returns the files written. A kill
/// leaves a folder without index; who needs the old model until then writes to a new folder and
/// renames it.
std::vector<std::filesystem::path> write_sharded_safetensors(const std::filesystem::path& folder,
                                                             std::span<const TensorData> tensors,
                                                             std::uint64_t max_shard_bytes,
                                                             const Metadata& metadata = {});

}  // namespace ubique::io
