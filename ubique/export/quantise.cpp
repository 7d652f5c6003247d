// SPDX-License-Identifier: Apache-2.0
#include "ubique/export/quantise.h"

#include <c10/util/Half.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ubique/base/error.h"

namespace ubique::exporting {
namespace {

std::vector<float> f32_values(const io::HostTensor& tensor) {
  check(tensor.dtype == DType::F32, ErrorKind::Internal,
        "[export.quantise] '{}' is {}, expected f32.", tensor.name, to_string(tensor.dtype));
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

io::HostTensor to_half(const io::HostTensor& tensor) {
  std::vector<c10::Half> halves;
  for (const float value : f32_values(tensor)) {
    const c10::Half half(value);
    check(std::isfinite(static_cast<float>(half)) || !std::isfinite(value), ErrorKind::Input,
          "[export.quantise] '{}' does not fit into f16; got a weight of {}, expected at most "
          "65504. Export it in f32.",
          tensor.name, value);
    halves.push_back(half);
  }
  return {tensor.name, DType::F16, tensor.shape, bytes_of(halves)};
}

QuantisedTensor quantise_rows(const io::HostTensor& tensor) {
  const auto values = f32_values(tensor);
  const auto rows = tensor.shape.at(0);
  const auto length = values.size() / static_cast<std::size_t>(rows);
  std::vector<std::int8_t> rounded(values.size());
  std::vector<float> scales;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    const auto* from = values.data() + row * length;
    float largest = 0;
    for (std::size_t i = 0; i < length; ++i) largest = std::max(largest, std::abs(from[i]));
    const float scale = largest > 0 ? largest / 127 : 1;
    scales.push_back(scale);
    for (std::size_t i = 0; i < length; ++i) {
      rounded[row * length + i] = static_cast<std::int8_t>(std::lround(from[i] / scale));
    }
  }
  return {{tensor.name, DType::I8, tensor.shape, bytes_of(rounded)},
          {tensor.name, DType::F32, {rows}, bytes_of(scales)}};
}

SmallTensor quantise_whole(const io::HostTensor& tensor) {
  const auto values = f32_values(tensor);
  SmallTensor result{{tensor.name, DType::U8, tensor.shape, {}}, 1, 0};
  if (values.empty()) return result;
  // Zero is within the range, and on one of its steps.
  const double low = std::min(0.0F, *std::min_element(values.begin(), values.end()));
  const double high = std::max(0.0F, *std::max_element(values.begin(), values.end()));
  if (high > low) result.scale = (high - low) / 255;
  const auto zero = std::round(-low / result.scale);
  result.min = -zero * result.scale;
  for (const float value : values) {
    const auto step = std::clamp(std::round(value / result.scale) + zero, 0.0, 255.0);
    result.values.bytes.push_back(static_cast<std::byte>(step));
  }
  return result;
}

}  // namespace ubique::exporting
