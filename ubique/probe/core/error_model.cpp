// SPDX-License-Identifier: Apache-2.0
// The tolerance formula and the comparison of tensors.
#include "ubique/probe/core/error_model.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "ubique/base/error.h"

namespace ubique::probe {
namespace {

// Safety factor for what the model leaves out: the largest of many errors instead of a typical one
// (about 5), and other orders of summation.
constexpr double kSafety = 8;

Difference shapes_differ() {
  Difference difference;
  difference.error = std::numeric_limits<double>::infinity();
  difference.value = difference.reference = std::nan("");
  return difference;
}

}  // namespace

DType accumulator(DType dtype) { return dtype == DType::F64 ? DType::F64 : DType::F32; }

double tolerance(DType dtype, const RoundingPath& path) {
  const double storage = path.roundings * epsilon(dtype) / 2;
  const double summation = path.growth * std::sqrt(path.terms) * epsilon(accumulator(dtype)) / 2;
  return kSafety * (storage + summation);
}

std::string Difference::to_text() const {
  if (std::isnan(reference)) return "the result has another shape";
  return fmt::format("element {} is {:.6g}, expected {:.6g}", at, value, reference);
}

Difference compare(const at::Tensor& value, const at::Tensor& reference) {
  if (value.sizes() != reference.sizes()) return shapes_differ();
  Difference difference;
  if (reference.numel() == 0) return difference;
  const auto a = value.detach().cpu().to(at::kDouble).contiguous().view(-1);
  const auto b = reference.detach().cpu().to(at::kDouble).contiguous().view(-1);
  const double rms = std::sqrt(b.square().mean().item<double>());
  const double scale = rms > 0 ? rms : 1;  // all zeros expected: the error is absolute
  auto errors = (a - b).abs() / (b.abs() + scale);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  errors = errors.nan_to_num(/*nan=*/kInfinity, /*posinf=*/kInfinity);
  difference.at = errors.argmax().item<std::int64_t>();
  difference.error = errors[difference.at].item<double>();
  difference.value = a[difference.at].item<double>();
  difference.reference = b[difference.at].item<double>();
  return difference;
}

at::ScalarType to_torch(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return at::kFloat;
    case DType::F64:
      return at::kDouble;
    case DType::BF16:
      return at::kBFloat16;
    case DType::F16:
      return at::kHalf;
    default:
      break;
  }
  fail(ErrorKind::Input,
       "[probe.dtype] probes compute in floating point; got {}, expected f16, "
       "bf16, f32 or f64.",
       to_string(dtype));
}

}  // namespace ubique::probe
