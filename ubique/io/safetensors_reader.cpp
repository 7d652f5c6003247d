// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/safetensors_reader.h"

#include <algorithm>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/io/bulk_read.h"
#include "ubique/io/printable.h"

namespace ubique::io {

SafetensorsFile::SafetensorsFile(std::span<const std::byte> file, std::string name)
    : file_(file), name_(std::move(name)), header_(parse_safetensors_header(file_, name_)) {}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : map_(path),
      file_(map_->bytes()),
      name_(path.string()),
      header_(parse_safetensors_header(file_, name_)) {}

SafetensorsFile SafetensorsFile::from_memory(std::span<const std::byte> file, std::string name) {
  return {file, std::move(name)};
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto place = find_by_name(header_.tensors, header_.by_name, name);
  return place ? &header_.tensors[*place] : nullptr;
}

std::span<const std::byte> SafetensorsFile::bytes(const TensorInfo& tensor) const {
  const auto data = file_.subspan(header_.data_begin);
  check(tensor.begin <= tensor.end && tensor.end <= data.size(), ErrorKind::Internal,
        "[io.safetensors] tensor '{}' is not of {}.", printable(tensor.name), name_);
  return data.subspan(tensor.begin, tensor.size());
}

void SafetensorsFile::read(const TensorInfo& tensor, std::span<std::byte> out) const {
  const auto from = bytes(tensor);
  check(out.size() == from.size(), ErrorKind::Internal,
        "[io.safetensors] tensor '{}' does not fit its destination; got room for {} bytes, "
        "expected {}.",
        printable(tensor.name), out.size(), from.size());
  if (map_ && map_->descriptor() >= 0) {
    bulk_read(*map_, header_.data_begin + tensor.begin, out);
  } else {
    std::copy(from.begin(), from.end(), out.begin());
  }
}

}  // namespace ubique::io
