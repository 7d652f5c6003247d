// SPDX-License-Identifier: Apache-2.0
// The normal distribution in plain arithmetic: only + - * / sqrt and exact scalings, so that the
// bits are the same with every C library, compiler and processor that follows IEEE 754.
#pragma once

namespace ubique {

/// The x below which a share p of the standard normal distribution lies; 0 < p < 1, smallest p
/// included. Relative error a few units of 1e-16 (Wichura 1988, algorithm AS 241).
double normal_quantile(double p);

/// The share of the standard normal distribution below x, with full relative accuracy for x < 0.
double normal_share_below(double x);

}  // namespace ubique
