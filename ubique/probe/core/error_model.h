// SPDX-License-Identifier: Apache-2.0
// How large a rounding error may be before a result counts as wrong, from the dtype's epsilon and
// the length of the accumulation. The derivation is in docs/why/error-model.md. Independent of
// devices.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "ubique/base/numbers/dtype.h"

namespace ubique::probe {

/// The roundings that a value goes through in an op.
struct RoundingPath {
  double terms = 1;      ///< length of the longest sum, accumulated in accumulator(dtype)
  double roundings = 1;  ///< how often an intermediate value is stored in the dtype itself
  double growth = 1;     ///< factor of algorithms that trade exactness for speed (kWinogradGrowth)
};

/// Winograd's F(4, 3) transforms multiply the rounding error of a convolution by about this much.
inline constexpr double kWinogradGrowth = 8;

DType accumulator(DType dtype);  ///< f32 for f32 and below, f64 for f64
/// Largest acceptable error in the measure of compare():
/// 8 (roundings u(dtype) + growth sqrt(terms) u(accumulator)) with u = epsilon / 2.
double tolerance(DType dtype, const RoundingPath& path);

/// The largest difference between a tensor and its reference.
struct Difference {
  double error = 0;  ///< max |value - reference| / (rms(reference) + |reference|); infinity for NaN
  std::int64_t at = 0;  ///< flat index of that element
  double value = 0, reference = 0;

  std::string to_text() const;  ///< "element 17 is 0.31, expected 0.12"
};

/// Shapes must agree (infinite error otherwise). A value that is not finite where the reference is
/// has infinite error; the reference must be finite.
Difference compare(const at::Tensor& value, const at::Tensor& reference);

at::ScalarType to_torch(DType dtype);

}  // namespace ubique::probe
