// SPDX-License-Identifier: Apache-2.0
// The NVIDIA card for the tests, if there is one, and the allowed errors.
#pragma once

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "ubique/base/error.h"
#include "ubique/device/select.h"

namespace ubique::test {

inline const std::optional<c10::Device>& card() {
  static const auto found = []() -> std::optional<c10::Device> {
    try {
      return device::select(device::parse_request("cuda")).torch_device;
    } catch (const Error& error) {
      MESSAGE("skipped: ", std::string(error.what()));
      return std::nullopt;
    }
  }();
  return found;
}

/// Largest absolute difference relative to the largest expected value.
inline double error_of(const at::Tensor& got, const at::Tensor& expected) {
  const auto off = (got.to(at::kCPU).to(at::kDouble) - expected).abs().max().item<double>();
  return off / std::max(expected.abs().max().item<double>(), 1e-30);
}

inline at::Tensor doubled(const at::Tensor& tensor) { return tensor.to(at::kCPU).to(at::kDouble); }

inline double rounding_of(at::ScalarType dtype) {
  return dtype == at::kFloat ? 2e-6 : dtype == at::kHalf ? 2e-3 : 1.6e-2;
}

}  // namespace ubique::test
