// SPDX-License-Identifier: Apache-2.0
// What every tensor file says about a tensor: name, element type, shape and where its bytes lie.
// Shared by all formats; knows none of them, and no torch.
// Which tensors of a file somebody wants.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/numbers/dtype.h"

namespace ubique::io {

using Shape = std::vector<std::int64_t>;  ///< empty: a scalar

struct TensorInfo {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::uint64_t begin = 0, end = 0;  ///< bytes, counted from the start of the file's tensor data

  std::uint64_t size() const { return end - begin; }
};

/// Elements of a shape, bytes of a tensor. Nothing if that does not fit into 63 bits, where a
/// dimension of 0 counts as 1: it must not hide others that no program could compute strides of.
std::optional<std::int64_t> element_count(const Shape& shape);
std::optional<std::int64_t> byte_count(DType dtype, const Shape& shape);

std::string shape_text(const Shape& shape);  ///< "[2, 3]"

/// Places of the tensors in order of their names, and a search in it.
std::vector<std::size_t> order_by_name(const std::vector<TensorInfo>& tensors);
std::optional<std::size_t> find_by_name(const std::vector<TensorInfo>& tensors,
                                        const std::vector<std::size_t>& order,
                                        std::string_view name);

/// By their names; empty: all. Readers that take one give the others without their bytes, which are
/// then not read.
using TensorFilter = std::function<bool(const std::string& name)>;

}  // namespace ubique::io
