// SPDX-License-Identifier: Apache-2.0
// A tensor in host memory, as readers return it and writers take it. No torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/io/tensors/tensor_info.h"

namespace ubique::io {

struct HostTensor {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::vector<std::byte> bytes;  ///< row-major, contiguous, in this machine's byte order
};

const HostTensor* find_tensor(std::span<const HostTensor> tensors, std::string_view name);

/// For writers: Internal error for names given twice and for bytes that do not fit dtype and shape.
/// `tag` begins the message: "io.npz".
void check_tensors(std::span<const HostTensor> tensors, std::string_view tag);

/// Element (i, j, ...) of the view is element first + i * strides[0] + j * strides[1] + ... of its
/// storage.
struct StridedView {
  Shape shape, strides;    ///< in elements
  std::int64_t first = 0;  ///< in elements
};

/// Whether every element of the view lies in a storage of `elements`. False also for negative
/// numbers, for sums beyond 63 bits, and if shape and strides differ in length.
bool is_inside(const StridedView& view, std::int64_t elements);

/// The view's elements in row-major order; is_inside() must hold.
std::vector<std::byte> row_major_copy(std::span<const std::byte> source, std::size_t element_size,
                                      const StridedView& view);

/// Converts values from the other byte order; complex numbers as two floats.
void swap_byte_order(HostTensor& tensor);

}  // namespace ubique::io
