// SPDX-License-Identifier: Apache-2.0
// Metrics of values: NSS of a map at fixations; CC, KLD and SIM between a map and a blurred map of
// fixations; information gain over a baseline. A constant map has NSS and CC 0 and counts as the
// uniform density.
#pragma once

#include <span>

#include "ubique/models/msinet/score/metric.h"

namespace ubique::msinet {

/// How a map becomes a density: (value - shift) * scale + add.
struct DensityRule {
  double shift = 0, scale = 1, add = 0;

  double operator()(double value) const { return (value - shift) * scale + add; }
};

/// Tuebingen: shifted so that the minimum is 0 only if it is negative, divided by the sum. Mit: the
/// minimum is always shifted to 0. `uniform` in [0, 1] mixes in the uniform density.
template <typename T>
DensityRule density_rule(const MeasuredMap<T>& map, Definition definition, double uniform = 0);

/// Normalised scanpath saliency: the mean at the points of (value - mean) / standard deviation.
template <typename T>
double nss(const MeasuredMap<T>& map, std::span<const MapPoint> points, Definition definition);

/// Pearson's correlation; the same in both definitions.
template <typename T, typename U>
double cc(const MeasuredMap<T>& map, const MeasuredMap<U>& truth);

/// Kullback-Leibler divergence of the map's density p from the truth's q, in nats; the same in both
/// definitions: sum of q ln(e + q / (p + e)).
template <typename T, typename U>
double kld(const MeasuredMap<T>& map, const MeasuredMap<U>& truth);

/// Shared mass of the two densities.
template <typename T, typename U>
double sim(const MeasuredMap<T>& map, const MeasuredMap<U>& truth, Definition definition);

/// Information gain over the baseline in bits per fixation, both as densities of the definition.
/// Tuebingen: a uniform share may be mixed into each; without it, a zero of the map at a fixation
/// gives minus infinity. Mit: e is added inside the logarithm instead.
template <typename T, typename U>
double information_gain(const MeasuredMap<T>& map, const MeasuredMap<U>& baseline,
                        std::span<const MapPoint> points, Definition definition, double uniform = 0,
                        double baseline_uniform = 0);

}  // namespace ubique::msinet
