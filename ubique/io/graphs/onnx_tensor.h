// SPDX-License-Identifier: Apache-2.0
// Tensors of an ONNX file (TensorProto), in every form of storage.
#pragma once

#include <functional>

#include "ubique/io/archive/protobuf.h"
#include "ubique/io/tensors/host_tensor.h"

namespace ubique::io {

/// Returns the bytes [offset, offset + length) of a file beside the model, given its plain name.
using OnnxFiles = std::function<std::vector<std::byte>(const std::string& file, std::int64_t offset,
                                                       std::int64_t length)>;

/// A key and its value, of metadata or external data.
std::pair<std::string, std::string> parse_onnx_entry(std::span<const std::byte> bytes,
                                                     const std::string& file);
DType onnx_dtype(std::uint64_t number, const std::string& where);  ///< Input error if unknown
HostTensor parse_onnx_tensor(std::span<const std::byte> bytes, const std::string& file,
                             const OnnxFiles& files);

}  // namespace ubique::io
