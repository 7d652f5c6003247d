// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy arrays and .npz archives (stored or deflated), read and written. Fortran order is
// converted to row-major; object arrays, which are pickles, are refused.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ubique/io/tensors/host_tensor.h"

namespace ubique::io {

/// Bools, integers, floats and complex64 of either byte order. Input error that names any other
/// type: texts, dates, records, Python objects. The tensor is named after the file.
HostTensor read_npy(const std::filesystem::path& path);
/// The same from memory; the tensor has no name, and error messages call the file `name`.
HostTensor parse_npy(std::span<const std::byte> file, const std::string& name);
/// The same bytes as np.save. Input error for types that NumPy lacks (bf16, f8).
std::string npy_bytes(const HostTensor& tensor);
void write_npy(const std::filesystem::path& path, const HostTensor& tensor);  ///< atomic

/// In archive order, named as in NumPy: without ".npy".
std::vector<HostTensor> read_npz(const std::filesystem::path& path);
std::vector<HostTensor> parse_npz(std::span<const std::byte> file, const std::string& name);
/// Atomic; deflated if `compress`.
void write_npz(const std::filesystem::path& path, std::span<const HostTensor> tensors,
               bool compress = true);

}  // namespace ubique::io
