// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy arrays and .npz archives (stored or deflated), read and written. Fortran order is
// turned into row-major; object arrays, which are pickles, are refused.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ubique/io/tensors/host_tensor.h"

namespace ubique::io {

/// Bools, integers, floats and complex64 of either byte order. Input error for other types, each by
/// its name: texts, dates, records, Python objects. The tensor is named after the file.
HostTensor read_npy(const std::filesystem::path& path);
/// The same from memory, without a name; `name` stands for the file in messages.
HostTensor parse_npy(std::span<const std::byte> file, const std::string& name);
/// As np.save writes it, byte by byte. Input error for types that NumPy lacks (bf16, f8).
std::string npy_bytes(const HostTensor& tensor);
void write_npy(const std::filesystem::path& path, const HostTensor& tensor);  ///< atomic

/// In the order of the archive, named as in NumPy: without ".npy".
std::vector<HostTensor> read_npz(const std::filesystem::path& path);
std::vector<HostTensor> parse_npz(std::span<const std::byte> file, const std::string& name);
/// Atomic; deflated if `compress`.
void write_npz(const std::filesystem::path& path, std::span<const HostTensor> tensors,
               bool compress = true);

}  // namespace ubique::io
