// SPDX-License-Identifier: Apache-2.0
// The three areas under ROC curves: AUC-Judd, AUC-Borji and shuffled AUC. A constant map scores
// 0.5. Sampling uses the counter-based generator: the same seed gives the same score everywhere.
#pragma once

#include <cstdint>
#include <span>

#include "ubique/models/msinet/score/metric.h"

namespace ubique::msinet {

/// Sampling of the MIT definitions.
struct AucSampling {
  std::uint64_t seed = 0;
  int splits = 100;
  double step = 0.1;  ///< between thresholds on the map scaled to 0..1
};

/// Tuebingen: all pixels are negatives, ties count half, every fixation counts. Mit: thresholds are
/// the values at the distinct fixated pixels, the other pixels are negatives; Input error if there
/// are none. No jitter is added: break_ties() does that.
template <typename T>
double auc_judd(const MeasuredMap<T>& map, std::span<const MapPoint> points, Definition definition);

/// The jitter of the MIT code: adds noise of up to 1e-7 of the map's range.
template <typename T>
std::vector<double> break_ties(const MeasuredMap<T>& map, std::uint64_t seed);

/// Negatives are pixels drawn with replacement, as many as there are distinct fixated ones.
template <typename T>
double auc_borji(const MeasuredMap<T>& map, std::span<const MapPoint> points,
                 const AucSampling& sampling = {});

/// Negatives are fixations of other images, on this map's grid (see rescale_points). Tuebingen:
/// all of them, ties count half. Mit: per split, as many distinct ones as there are fixations,
/// drawn without replacement. Input error without negatives, and for one outside of the map.
template <typename T>
double shuffled_auc(const MeasuredMap<T>& map, std::span<const MapPoint> points,
                    std::span<const MapPoint> others, Definition definition,
                    const AucSampling& sampling = {});

/// Points of an image of one size at the same relative position in another.
std::vector<MapPoint> rescale_points(std::span<const MapPoint> points, int from_width,
                                     int from_height, int to_width, int to_height);

}  // namespace ubique::msinet
