// SPDX-License-Identifier: Apache-2.0
// Rounding with error diffusion inside each kernel; f16, i8 per row, u8 per tensor.
#include "ubique/export/quantise.h"

#include <c10/util/Half.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

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

bool are_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

void check_finite_weights(const io::HostTensor& tensor, const std::vector<float>& values) {
  check(are_finite(values), ErrorKind::Input,
        "[export.quantise] '{}' does not fit into 8 bits; got NaN or infinite weights, expected "
        "numbers. Export it in f32.",
        tensor.name);
}

using Rounding = std::function<double(double)>;

/// Error diffusion: each tap's rounding error is added to the next tap, from large taps to small.
/// Neighbouring voxels are similar, so a kernel's sum matters more than each tap: labels change
/// about half as often as with plain rounding.
std::vector<double> round_kernels(const io::HostTensor& tensor, const std::vector<float>& values,
                                  const std::function<Rounding(std::size_t row)>& rounding_of) {
  const auto rows = static_cast<std::size_t>(tensor.shape.empty() ? 1 : tensor.shape[0]);
  const auto row_size = rows == 0 ? 0 : values.size() / rows;
  std::size_t taps = 1;
  for (std::size_t i = 2; i < tensor.shape.size(); ++i) {
    taps *= static_cast<std::size_t>(tensor.shape[i]);
  }
  std::vector<double> rounded(values.size());
  std::vector<std::size_t> order(taps);
  for (std::size_t start = 0; start < values.size(); start += taps) {
    const auto round = rounding_of(start / row_size);
    if (!are_finite(std::span(values).subspan(start, taps))) {  // nothing to carry on, or to sort
      for (auto i = start; i < start + taps; ++i) rounded[i] = round(values[i]);
      continue;
    }
    std::iota(order.begin(), order.end(), start);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::abs(values[a]) > std::abs(values[b]);
    });
    double carried = 0;
    for (const auto i : order) {
      rounded[i] = round(values[i] + carried);
      carried += values[i] - rounded[i];
    }
  }
  return rounded;
}

double largest_in(const float* values, std::size_t count) {
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = std::max<double>(largest, std::abs(values[i]));
  return largest;
}

}  // namespace

io::HostTensor to_half(const io::HostTensor& tensor) {
  const auto values = f32_values(tensor);
  std::vector<c10::Half> halves;
  const Rounding round = [](double x) {
    return static_cast<double>(static_cast<float>(c10::Half(static_cast<float>(x))));
  };
  for (const double value : round_kernels(tensor, values, [&](std::size_t) { return round; })) {
    check(std::isfinite(value) || !std::isfinite(values[halves.size()]), ErrorKind::Input,
          "[export.quantise] '{}' does not fit into f16; got a weight of {}, expected at most "
          "65504. Export it in f32.",
          tensor.name, values[halves.size()]);
    halves.emplace_back(static_cast<float>(value));
  }
  return {tensor.name, DType::F16, tensor.shape, bytes_of(halves)};
}

QuantisedTensor quantise_rows(const io::HostTensor& tensor) {
  const auto values = f32_values(tensor);
  check_finite_weights(tensor, values);
  const auto rows = static_cast<std::size_t>(tensor.shape.at(0));
  const auto length = values.size() / rows;
  std::vector<float> scales;
  for (std::size_t row = 0; row < rows; ++row) {
    const double largest = largest_in(values.data() + row * length, length);
    scales.push_back(largest > 0 ? static_cast<float>(largest / 127) : 1);
  }
  const auto rounded = round_kernels(tensor, values, [&](std::size_t row) -> Rounding {
    return [scale = static_cast<double>(scales[row])](double x) {
      return std::clamp(std::round(x / scale), -127.0, 127.0) * scale;
    };
  });
  std::vector<std::int8_t> steps;
  for (std::size_t i = 0; i < values.size(); ++i) {
    steps.push_back(static_cast<std::int8_t>(std::lround(rounded[i] / scales[i / length])));
  }
  return {{tensor.name, DType::I8, tensor.shape, bytes_of(steps)},
          {tensor.name, DType::F32, {tensor.shape[0]}, bytes_of(scales)}};
}

SmallTensor quantise_whole(const io::HostTensor& tensor) {
  const auto values = f32_values(tensor);
  check_finite_weights(tensor, values);
  SmallTensor result{{tensor.name, DType::U8, tensor.shape, {}}, 1, 0};
  if (values.empty()) return result;
  // The range includes zero, and zero is one of its steps.
  const double low = std::min(0.0F, *std::min_element(values.begin(), values.end()));
  const double high = std::max(0.0F, *std::max_element(values.begin(), values.end()));
  if (high > low) result.scale = (high - low) / 255;
  const auto scale = result.scale, zero = std::round(-low / scale);
  result.min = -zero * scale;
  const Rounding round = [=](double x) {
    return (std::clamp(std::round(x / scale) + zero, 0.0, 255.0) - zero) * scale;
  };
  for (const double value : round_kernels(tensor, values, [&](std::size_t) { return round; })) {
    result.values.bytes.push_back(static_cast<std::byte>(std::lround(value / scale + zero)));
  }
  return result;
}

}  // namespace ubique::exporting
