// SPDX-License-Identifier: Apache-2.0
// Vectors of many megabytes on huge pages. Most of the cost of a fresh vector is page faults of 4
// KiB each; with huge pages it takes a quarter of the time.
#pragma once

#include <cstddef>
#include <vector>

namespace ubique {

/// For memory that has not been touched yet. Does nothing where the system has no huge pages.
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
