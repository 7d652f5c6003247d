// SPDX-License-Identifier: Apache-2.0
// What every tensor file says about a tensor: name, element type, shape and byte range. Shared by
// all formats. No torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/numbers/dtype.h"

namespace ubique::io {

using Shape = std::vector<std::int64_t>;  ///< empty: a scalar

/// The limit of LibTorch and NumPy.
inline constexpr std::size_t kMaxTensorDimensions = 64;

struct TensorInfo {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::uint64_t begin = 0, end = 0;  ///< bytes, counted from the start of the file's tensor data

  std::uint64_t size() const { return end - begin; }
};

/// Elements of a shape, bytes of a tensor. Nothing if the product, with 0 counted as 1, does not
/// fit into 63 bits: a 0 must not hide other dimensions whose strides would overflow.
std::optional<std::int64_t> element_count(const Shape& shape);
std::optional<std::int64_t> byte_count(DType dtype, const Shape& shape);

std::string shape_text(const Shape& shape);  ///< "[2, 3]"

/// Indices of the tensors sorted by name, and a binary search in them.
std::vector<std::size_t> order_by_name(const std::vector<TensorInfo>& tensors);
std::optional<std::size_t> find_by_name(const std::vector<TensorInfo>& tensors,
                                        const std::vector<std::size_t>& order,
                                        std::string_view name);

/// Selects tensors by name; empty: all. Readers return the others without values, and do not read
/// those.
using TensorFilter = std::function<bool(const std::string& name)>;

}  // namespace ubique::io
