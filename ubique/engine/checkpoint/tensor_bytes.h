// SPDX-License-Identifier: Apache-2.0
// Torch tensors as files have them (dtype, shape, row-major bytes), and back. Knows no file format.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>
#include <string>

#include "ubique/base/numbers/dtype.h"
#include "ubique/io/tensors/host_tensor.h"

namespace ubique::engine {

/// Internal error for element types that no file of ours holds (quantized, complex of doubles).
DType dtype_of(const at::Tensor& tensor);
at::ScalarType scalar_type_of(DType dtype);

/// The same values on the host in logical (row-major) order, whatever device and memory format they
/// have; no copy if they lie so already. Internal error for what is not a plain dense tensor.
at::Tensor to_host(const at::Tensor& tensor);

/// The memory of a tensor that to_host gave or that is fresh; gone with it.
std::span<const std::byte> bytes_of(const at::Tensor& host);
std::span<std::byte> writable_bytes_of(at::Tensor& host);

at::Tensor torch_tensor(const io::HostTensor& tensor);  ///< a copy, on the host
io::HostTensor host_tensor_of(const std::string& name, const at::Tensor& tensor);  ///< and back

}  // namespace ubique::engine
