// SPDX-License-Identifier: Apache-2.0
// Lays out and writes one file, or shards with their index.
#include "ubique/io/tensors/safetensors_writer.h"

#include <algorithm>
#include <numeric>
#include <system_error>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/tensors/safetensors_json.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/tensors/safetensors_set.h"

namespace ubique::io {
namespace {

namespace fs = std::filesystem;

/// Size of a tensor in bytes, checked against its data.
std::uint64_t checked_size(const TensorData& tensor) {
  check(!tensor.name.empty() && tensor.name != kMetadataKey, ErrorKind::Internal,
        "[io.safetensors] a tensor cannot be named '{}'.", tensor.name);
  const auto size = byte_count(tensor.dtype, tensor.shape);
  check(size.has_value(), ErrorKind::Internal,
        "[io.safetensors] tensor '{}' has an impossible shape; got {}.", printable(tensor.name),
        shape_text(tensor.shape));
  check(tensor.stream || tensor.bytes.size() == static_cast<std::uint64_t>(*size),
        ErrorKind::Internal,
        "[io.safetensors] tensor '{}' has the wrong size; got {} bytes, expected {} for {} {}.",
        printable(tensor.name), tensor.bytes.size(), *size, to_string(tensor.dtype),
        shape_text(tensor.shape));
  return static_cast<std::uint64_t>(*size);
}

std::vector<std::size_t> writing_order(std::span<const TensorData> tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(safetensors_rank(tensors[a].dtype), std::string_view(tensors[a].name)) <
           std::pair(safetensors_rank(tensors[b].dtype), std::string_view(tensors[b].name));
  });
  return order;
}

void check_unique(std::span<const TensorData> tensors) {
  std::vector<std::string_view> names;
  for (const auto& tensor : tensors) names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  check(twice == names.end(), ErrorKind::Internal,
        "[io.safetensors] two tensors have the name '{}'; expected each name once.",
        twice == names.end() ? "" : printable(*twice));
}

SafetensorsJson lay_out(std::span<const TensorData> tensors, std::span<const std::size_t> order,
                        const Metadata& metadata) {
  SafetensorsJson json{{}, metadata};
  std::uint64_t end = 0;
  for (const auto i : order) {
    const auto begin = end;
    end += checked_size(tensors[i]);
    json.tensors.push_back({tensors[i].name, tensors[i].dtype, tensors[i].shape, begin, end});
  }
  return json;
}

void write_tensor(AtomicFile& file, const TensorData& tensor, std::uint64_t size) {
  if (!tensor.stream) return file.write(tensor.bytes);
  std::uint64_t written = 0;
  const auto wrong_size = [&](std::string_view got) {
    fail(ErrorKind::Internal,
         "[io.safetensors] tensor '{}' streamed the wrong size; got {} bytes, expected {}.",
         printable(tensor.name), got, size);
  };
  tensor.stream([&](std::span<const std::byte> piece) {
    if (piece.size() > size - written) wrong_size("more");
    written += piece.size();
    file.write(piece);
  });
  if (written != size) wrong_size(std::to_string(written));
}

/// Index of the first tensor of each shard, then the number of tensors.
std::vector<std::size_t> split_shards(std::span<const TensorData> tensors, std::uint64_t limit) {
  std::vector<std::size_t> starts = {0};
  std::uint64_t filled = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto size = checked_size(tensors[i]);
    if (i > starts.back() && size > limit - std::min(filled, limit)) {
      starts.push_back(i);
      filled = 0;
    }
    filled += size;
  }
  starts.push_back(tensors.size());
  return starts;
}

void remove_old(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  check(!error, ErrorKind::Input, "[io.safetensors] cannot remove the old {}; {}.", path.string(),
        error.message());
}

}  // namespace

void write_safetensors(const fs::path& path, std::span<const TensorData> tensors,
                       const Metadata& metadata) {
  check_unique(tensors);
  const auto order = writing_order(tensors);
  const auto json = lay_out(tensors, order, metadata);
  const auto header = safetensors_header_text(json);
  AtomicFile file(path);
  file.write(header);
  for (std::size_t i = 0; i < order.size(); ++i) {
    write_tensor(file, tensors[order[i]], json.tensors[i].size());
  }
  file.commit();
}

std::vector<fs::path> write_sharded_safetensors(const fs::path& folder,
                                                std::span<const TensorData> tensors,
                                                std::uint64_t max_shard_bytes,
                                                const Metadata& metadata) {
  check_unique(tensors);
  const auto starts = split_shards(tensors, max_shard_bytes);
  const auto shards = starts.size() - 1;
  const auto single = folder / kSafetensorsFile, index_path = folder / kSafetensorsIndexFile;
  make_folder(folder);
  remove_old(index_path);  // first: an old index with new shards would mix two models
  if (shards == 1) {
    write_safetensors(single, tensors, metadata);
    return {single};
  }
  SafetensorsIndex index;
  index.total_size = 0;
  std::vector<fs::path> written;
  for (std::size_t shard = 0; shard < shards; ++shard) {
    const auto name = fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, shards);
    const auto part = tensors.subspan(starts[shard], starts[shard + 1] - starts[shard]);
    write_safetensors(folder / name, part, metadata);
    for (const auto& tensor : part) {
      index.weight_map[tensor.name] = name;
      *index.total_size += checked_size(tensor);
    }
    written.push_back(folder / name);
  }
  write_file(index_path, safetensors_index_text(index));
  remove_old(single);
  written.push_back(index_path);
  return written;
}

}  // namespace ubique::io
