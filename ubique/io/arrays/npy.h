// SPDX-License-Identifier: Apache-2.0
// The header of an .npy array: a Python dict in text, read without Python. Versions 1 to 3.
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
  bool fortran_order = false;  ///< the first index is the fastest
  Shape shape;
  std::size_t data_begin = 0;
};

/// `name` stands for the file in messages.
NpyHeader parse_npy_header(std::span<const std::byte> file, const std::string& name);

/// Version 1, as np.save pads it: the values then begin at a multiple of 64.
std::string npy_header_text(DType dtype, const Shape& shape);

}  // namespace ubique::io
