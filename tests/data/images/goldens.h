// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of this folder: tensors of golden files, and distances.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/shared.h"
#include "ubique/data/images/image.h"
#include "ubique/io/tensors/safetensors_reader.h"

namespace ubique::test {

template <typename T>
std::vector<T> golden_values(const io::SafetensorsFile& file, const std::string& name) {
  const auto* found = file.find(name);
  REQUIRE(found != nullptr);
  std::vector<T> values(found->size() / sizeof(T));
  file.read(*found, std::as_writable_bytes(std::span(values)));
  return values;
}

/// (H, W) or (H, W, C).
inline io::Picture golden_picture(const io::SafetensorsFile& file, const std::string& name) {
  const auto* found = file.find(name);
  REQUIRE(found != nullptr);
  const auto& shape = found->shape;
  const auto channels = shape.size() == 3 ? static_cast<int>(shape[2]) : 1;
  return {static_cast<int>(shape[1]), static_cast<int>(shape[0]), channels,
          golden_values<std::uint8_t>(file, name)};
}

template <typename A, typename B>
double largest_difference(const std::vector<A>& a, const std::vector<B>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

/// Different values in every pixel and channel.
inline data::Image wavy(int height, int width, int channels) {
  data::Image image{height, width, channels, {}};
  for (std::size_t i = 0; i < image.size(); ++i) {
    image.values.push_back(static_cast<float>(127 + 120 * std::sin(0.37 * static_cast<double>(i))));
  }
  return image;
}

}  // namespace ubique::test
