// SPDX-License-Identifier: Apache-2.0
// Sizes of shapes with overflow checks; search by name.
#include "ubique/io/tensors/tensor_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace ubique::io {
namespace {

std::optional<std::int64_t> multiply_checked(std::int64_t a, std::int64_t b) {
  if (a != 0 && b > std::numeric_limits<std::int64_t>::max() / a) return std::nullopt;
  return a * b;
}

}  // namespace

std::optional<std::int64_t> byte_count(DType dtype, const Shape& shape) {
  auto bytes = std::optional(static_cast<std::int64_t>(size_of(dtype)));
  bool empty = false;
  for (const auto dimension : shape) {
    if (dimension < 0) return std::nullopt;
    empty = empty || dimension == 0;
    bytes = multiply_checked(*bytes, std::max<std::int64_t>(dimension, 1));
    if (!bytes) return std::nullopt;
  }
  return empty ? 0 : *bytes;
}

std::optional<std::int64_t> element_count(const Shape& shape) {
  return byte_count(DType::U8, shape);
}

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::vector<std::size_t> order_by_name(const std::vector<TensorInfo>& tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return tensors[a].name < tensors[b].name; });
  return order;
}

std::optional<std::size_t> find_by_name(const std::vector<TensorInfo>& tensors,
                                        const std::vector<std::size_t>& order,
                                        std::string_view name) {
  const auto found =
      std::lower_bound(order.begin(), order.end(), name,
                       [&](std::size_t i, std::string_view key) { return tensors[i].name < key; });
  if (found == order.end() || tensors[*found].name != name) return std::nullopt;
  return *found;
}

}  // namespace ubique::io
