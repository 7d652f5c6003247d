// SPDX-License-Identifier: Apache-2.0
// The normal distribution in plain arithmetic: only + - * / sqrt and exact scalings, so that
// results are the same to the bit with every C library, compiler and IEEE 754 processor.
#pragma once

namespace ubique {

/// Inverse of normal_cdf for 0 < p < 1, down to the smallest p. Relative error a few units of 1e-16
/// (Wichura 1988, algorithm AS 241).
double normal_quantile(double p);

/// P(X < x) of the standard normal distribution, with full relative accuracy for x < 0.
double normal_cdf(double x);

}  // namespace ubique
