// SPDX-License-Identifier: Apache-2.0
// One array: the header, then its values.
#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/file.h"
#include "ubique/io/byte_order.h"
#include "ubique/io/npy_header.h"
#include "ubique/io/npz.h"

namespace ubique::io {
namespace {

Shape fortran_strides(const Shape& shape) {
  Shape strides;
  std::int64_t stride = 1;
  for (const auto size : shape) {
    strides.push_back(stride);
    stride *= std::max<std::int64_t>(size, 1);
  }
  return strides;
}

}  // namespace

HostTensor parse_npy(std::span<const std::byte> file, const std::string& name) {
  const auto header = parse_npy_header(file, name);
  const auto data = file.subspan(header.data_begin);
  const auto expected = byte_count(header.dtype, header.shape);
  check(expected && data.size() == static_cast<std::uint64_t>(*expected), ErrorKind::Input,
        "[io.npy] {} has the wrong length; got {} bytes of values, expected those of {} {}. Was it "
        "cut short?",
        name, data.size(), to_string(header.dtype), shape_text(header.shape));
  HostTensor tensor{{}, header.dtype, header.shape, {}};
  if (header.fortran_order) {
    const StridedView view{header.shape, fortran_strides(header.shape), 0};
    tensor.bytes = row_major_copy(data, size_of(header.dtype), view);
  } else {
    tensor.bytes.assign(data.begin(), data.end());
  }
  if (header.little != kLittleMachine) swap_byte_order(tensor);
  return tensor;
}

HostTensor read_npy(const std::filesystem::path& path) {
  const MappedFile file(path);
  auto tensor = parse_npy(file.bytes(), path.string());
  tensor.name = path.stem().string();
  return tensor;
}

std::string npy_bytes(const HostTensor& tensor) {
  check_tensors({&tensor, 1}, "io.npy");
  auto bytes = npy_header_text(tensor.dtype, tensor.shape);
  bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  return bytes;
}

void write_npy(const std::filesystem::path& path, const HostTensor& tensor) {
  write_file(path, npy_bytes(tensor));
}

}  // namespace ubique::io
