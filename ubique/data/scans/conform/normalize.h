// SPDX-License-Identifier: Apache-2.0
// Scales intensities to the range a network was trained with.
#pragma once

#include <string_view>

#include "ubique/data/scans/volume/volume.h"

namespace ubique::data {

enum class Normalization { MinMax, Quantile, ZScore, None };

std::string_view to_string(Normalization normalization);   ///< "min_max", "quantile", ...
Normalization parse_normalization(std::string_view text);  ///< Usage error, did you mean

/// In place, over the whole volume, in f32; a flat volume becomes zeros. `low` and `high` are the
/// quantiles of Quantile (as fractions), exact, values beyond them not clipped; Input error where
/// the two are equal although the volume is not flat.
void normalize(Volume& volume, Normalization how, double low = 0.05, double high = 0.95,
               int threads = 1);

}  // namespace ubique::data
