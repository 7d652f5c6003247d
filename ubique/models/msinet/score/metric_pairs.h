// SPDX-License-Identifier: Apache-2.0
// Metrics that look at values: NSS of a map at points, CC, KLD and SIM of a map against a blurred
// map of fixations, and the information gain over a baseline. Defined for every map: a constant one
// has NSS and CC 0 and counts as the uniform density.
#pragma once

#include <span>

#include "ubique/models/msinet/score/metric.h"

namespace ubique::msinet {

/// How a map becomes a density: (value - shift) * scale + add.
struct DensityRule {
  double shift = 0, scale = 1, add = 0;

  double operator()(double value) const { return (value - shift) * scale + add; }
};

/// Tuebingen: moved up to 0 only where it has negative values, divided by its sum. Mit: always
/// moved to 0 (min-max). A share of the uniform density may be mixed in: `uniform` in [0, 1].
template <typename T>
DensityRule density_rule(const MeasuredMap<T>& map, Definition definition, double uniform = 0);

/// Mean deviation of the map from its mean at the points, in standard deviations.
template <typename T>
double nss(const MeasuredMap<T>& map, std::span<const MapPoint> points, Definition definition);

/// Pearson's correlation; the two definitions are one.
template <typename T, typename U>
double cc(const MeasuredMap<T>& map, const MeasuredMap<U>& truth);

/// Kullback-Leibler divergence of the map's density from the truth's, in nats; the two definitions
/// are one: sum of q ln(e + q / (p + e)).
template <typename T, typename U>
double kld(const MeasuredMap<T>& map, const MeasuredMap<U>& truth);

/// Shared mass of the two densities.
template <typename T, typename U>
double sim(const MeasuredMap<T>& map, const MeasuredMap<U>& truth, Definition definition);

/// Bits per fixation that the map tells more than the baseline. Both are made densities by the
/// definition's rule. Tuebingen: a uniform share may be mixed into each; without, a zero of the map
/// at a fixation gives minus infinity. Mit: no shares, e is added inside the logarithm instead.
template <typename T, typename U>
double information_gain(const MeasuredMap<T>& map, const MeasuredMap<U>& baseline,
                        std::span<const MapPoint> points, Definition definition, double uniform = 0,
                        double baseline_uniform = 0);

}  // namespace ubique::msinet
