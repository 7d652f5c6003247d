// SPDX-License-Identifier: Apache-2.0
// Writes safetensors files with the same order and JSON as Python's serializer, so that a file that
// is read and written again is unchanged. Tensors can be streamed: no copy in memory is needed.
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

/// Receives the next bytes of a tensor, row-major and little-endian.
using ByteSink = std::function<void(std::span<const std::byte>)>;

struct TensorData {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::span<const std::byte> bytes;
  /// If set, used instead of `bytes`: called once, passes all bytes to the sink in any pieces.
  std::function<void(const ByteSink&)> stream = {};
};

/// Atomic: the file appears complete or not at all. Internal error, before anything is written, for
/// names that are empty, reserved, given twice or not UTF-8 and for bytes that do not fit the
/// shape; while writing, for a stream of the wrong length. Metadata is sorted by key.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorData> tensors,
                       const Metadata& metadata = {});

/// Writes a folder that SafetensorsSet and Python open: model.safetensors if all tensors fit into
/// max_shard_bytes, else model-00001-of-0000N.safetensors and, last, model.safetensors.index.json.
/// Removes an older index or single file. Tensors fill the shards in the given order; one that is
/// larger than the limit gets its own shard. Returns the files written. Not atomic as a whole: if
/// it is interrupted, the folder has no index.
std::vector<std::filesystem::path> write_sharded_safetensors(const std::filesystem::path& folder,
                                                             std::span<const TensorData> tensors,
                                                             std::uint64_t max_shard_bytes,
                                                             const Metadata& metadata = {});

}  // namespace ubique::io
