// SPDX-License-Identifier: Apache-2.0
// Checks of tensors to write, copies of strided views, byte order.
#include "ubique/io/tensors/host_tensor.h"

#include <algorithm>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/byte_order.h"

namespace ubique::io {
namespace {

/// The trailing dimensions that are contiguous already: one run of elements to copy at once.
struct ContiguousTail {
  std::size_t dimensions = 0;
  std::int64_t elements = 1;
};

ContiguousTail contiguous_tail(const StridedView& view) {
  ContiguousTail tail;
  for (std::size_t d = view.shape.size(); d-- > 0;) {
    if (view.strides[d] != tail.elements) break;
    tail.elements *= view.shape[d];
    ++tail.dimensions;
  }
  return tail;
}

/// Drops dimensions of size 1: their strides are never used and may be any number.
StridedView without_ones(const StridedView& view) {
  StridedView result{{}, {}, view.first};
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] == 1) continue;
    result.shape.push_back(view.shape[d]);
    result.strides.push_back(view.strides[d]);
  }
  return result;
}

}  // namespace

const HostTensor* find_tensor(std::span<const HostTensor> tensors, std::string_view name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const HostTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

void check_tensors(std::span<const HostTensor> tensors, std::string_view tag) {
  std::vector<std::string_view> names;
  for (const auto& tensor : tensors) {
    const auto size = byte_count(tensor.dtype, tensor.shape);
    check(size && tensor.bytes.size() == static_cast<std::uint64_t>(*size), ErrorKind::Internal,
          "[{}] tensor '{}' has the wrong size; got {} bytes, expected those of {} {}.", tag,
          printable(tensor.name), tensor.bytes.size(), to_string(tensor.dtype),
          shape_text(tensor.shape));
    names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  check(twice == names.end(), ErrorKind::Internal,
        "[{}] two tensors have the name '{}'; expected each name once.", tag,
        twice == names.end() ? "" : printable(*twice));
}

bool is_inside(const StridedView& view, std::int64_t elements) {
  if (view.first < 0 || view.strides.size() != view.shape.size()) return false;
  std::int64_t last = view.first;
  bool empty = false;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] < 0 || view.strides[d] < 0) return false;
    empty = empty || view.shape[d] == 0;
    std::int64_t reach = 0;
    const auto steps = std::max<std::int64_t>(view.shape[d] - 1, 0);
    if (__builtin_mul_overflow(steps, view.strides[d], &reach)) return false;
    if (__builtin_add_overflow(last, reach, &last)) return false;
  }
  return empty || last < elements;
}

std::vector<std::byte> row_major_copy(std::span<const std::byte> source, std::size_t element_size,
                                      const StridedView& given) {
  const auto view = without_ones(given);
  const auto count = element_count(view.shape).value_or(0);
  std::vector<std::byte> out(static_cast<std::size_t>(count) * element_size);
  if (out.empty()) return out;
  const auto tail = contiguous_tail(view);
  const auto run = static_cast<std::size_t>(tail.elements) * element_size;
  const auto outer = view.shape.size() - tail.dimensions;
  Shape index(outer, 0);
  auto at = view.first;
  for (std::size_t done = 0; done < out.size(); done += run) {
    std::memcpy(out.data() + done, source.data() + static_cast<std::size_t>(at) * element_size,
                run);
    for (std::size_t d = outer; d-- > 0;) {  // the next index, like the digits of a counter
      at += view.strides[d];
      if (++index[d] < view.shape[d]) break;
      at -= view.shape[d] * view.strides[d];
      index[d] = 0;
    }
  }
  return out;
}

void swap_byte_order(HostTensor& tensor) {
  const auto width = tensor.dtype == DType::C64 ? size_of(DType::F32) : size_of(tensor.dtype);
  swap_byte_order(tensor.bytes, width);
}

}  // namespace ubique::io
