// SPDX-License-Identifier: Apache-2.0
// Converts torch tensors to dtype, shape and row-major bytes, as files hold them, and back.
// Independent of the file format.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>
#include <string>

#include "ubique/base/numbers/dtype.h"
#include "ubique/io/tensors/host_tensor.h"

namespace ubique::engine {

/// Internal error for element types that are never written (quantized, complex128).
DType dtype_of(const at::Tensor& tensor);
at::ScalarType scalar_type_of(DType dtype);

/// The values on the host in row-major order; no copy if they are already there in that order.
/// Internal error for anything but a dense tensor.
at::Tensor to_host(const at::Tensor& tensor);

/// The memory of a contiguous host tensor (to_host's result or a new one); valid as long as it.
std::span<const std::byte> bytes_of(const at::Tensor& host);
std::span<std::byte> writable_bytes_of(at::Tensor& host);

at::Tensor torch_tensor(const io::HostTensor& tensor);  ///< a copy on the host
io::HostTensor host_tensor_of(const std::string& name, const at::Tensor& tensor);

}  // namespace ubique::engine
