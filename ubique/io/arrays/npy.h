// SPDX-License-Identifier: Apache-2.0
// The header of an .npy array (versions 1 to 3): a Python dict as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {

struct NpyHeader {
  DType dtype = DType::F32;
  bool little = true;          ///< byte order of the values
  bool fortran_order = false;  ///< the first index varies fastest
  Shape shape;
  std::size_t data_begin = 0;
};

/// Error messages call the file `name`.
NpyHeader parse_npy_header(std::span<const std::byte> file, const std::string& name);

/// Version 1, padded like np.save: the values begin at a multiple of 64 bytes.
std::string npy_header_text(DType dtype, const Shape& shape);

}  // namespace ubique::io
