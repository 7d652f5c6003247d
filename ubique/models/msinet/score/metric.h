// SPDX-License-Identifier: Apache-2.0
// The eight saliency metrics, their two definitions, and the types they work on: a map and points
// on it. No torch, no files.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ubique/data/images/image.h"

namespace ubique::msinet {

/// Mit: the MATLAB code of the MIT saliency benchmark (repeated points count once, sample standard
/// deviation, maps min-max scaled). Tuebingen: pysaliency and the current MIT/Tuebingen benchmark
/// (every fixation counts).
enum class Definition { Mit, Tuebingen };

enum class Metric { AucJudd, AucBorji, ShuffledAuc, Nss, Cc, Kld, Sim, Ig };
inline constexpr std::size_t kMetricCount = 8;

std::string_view to_string(Definition definition);         ///< "mit", "tuebingen"
Definition parse_definition(std::string_view text);        ///< Usage error for an unknown word
std::string_view to_string(Metric metric);                 ///< "AUC-Judd", ... as in tables
std::string_view metric_key(Metric metric);                ///< "auc_judd", ... as in JSON
bool defined_in(Metric metric, Definition definition);     ///< AUC-Borji is MIT's alone
bool is_better(Metric metric, double value, double than);  ///< lower is better only for KLD

/// A fixation: pixels from the left and the top edge, so that (0.7, 3.2) lies in column 0, row 3.
using MapPoint = data::Fixation;

/// A checked map with its minimum, maximum and sum: the size is right and all values are finite.
/// Does not own the values (row-major, top row first). T is float or double.
template <typename T>
struct MeasuredMap {
  /// Input error for an empty map, a wrong number of values, or a value that is not finite.
  MeasuredMap(std::span<const T> values, int width, int height);

  std::span<const T> values;
  int width, height;
  double min = 0, max = 0, sum = 0;

  double count() const { return static_cast<double>(values.size()); }
  double mean() const { return sum / count(); }
  bool constant() const { return min == max; }
};

bool inside(const MapPoint& point, int width, int height);
/// The points that are inside; the others are counted in `dropped`.
std::vector<MapPoint> keep_inside(std::span<const MapPoint> points, int width, int height,
                                  std::int64_t& dropped);
/// The centres of the points' pixels, each once, in the order of first occurrence.
std::vector<MapPoint> distinct_pixels(std::span<const MapPoint> points, int width);

/// The map's value at each point. Input error without points, and for a point outside of the map.
template <typename T>
std::vector<double> values_at(const MeasuredMap<T>& map, std::span<const MapPoint> points);

}  // namespace ubique::msinet
