// SPDX-License-Identifier: Apache-2.0
// A tensor in plain memory, as files of every format give and take it: no torch.
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

/// For writers, before they write: Internal error for names given twice and for bytes that do not
/// fit dtype and shape. `place` begins the message: "io.npz".
void check_tensors(std::span<const HostTensor> tensors, std::string_view place);

/// As many as LibTorch and NumPy take.
inline constexpr std::size_t kMaxTensorDimensions = 64;

/// A view into `source`: element (i, j, ...) lies at first + i * strides[0] + j * strides[1] + ...
struct StridedView {
  Shape shape, strides;    ///< in elements
  std::int64_t first = 0;  ///< in elements
};

/// Whether every element of the view lies inside `elements` of them. False too for negative numbers
/// and where the sums do not fit into 63 bits. Lists of one length.
bool is_inside(const StridedView& view, std::int64_t elements);

/// The view's elements in row-major order; is_inside() must hold.
std::vector<std::byte> row_major_copy(std::span<const std::byte> source, std::size_t element_size,
                                      const StridedView& view);

/// Turns numbers of a file of the other byte order around; both halves of complex ones.
void swap_byte_order(HostTensor& tensor);

}  // namespace ubique::io
