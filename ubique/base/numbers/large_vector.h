// SPDX-License-Identifier: Apache-2.0
// Vectors of many megabytes. Most of the time a fresh one takes is the system handing out its
// pages, 4 KiB by 4 KiB; asked for larger ones beforehand, it takes a quarter of that.
#pragma once

#include <cstddef>
#include <vector>

namespace ubique {

/// Advice for memory that has not been touched yet; nothing where the system knows no such pages.
void prefer_large_pages(void* memory, std::size_t bytes);

/// `count` zeros.
template <typename T>
std::vector<T> large_vector(std::size_t count) {
  std::vector<T> values;
  values.reserve(count);
  prefer_large_pages(values.data(), count * sizeof(T));
  values.resize(count);
  return values;
}

}  // namespace ubique
