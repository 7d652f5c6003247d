// SPDX-License-Identifier: Apache-2.0
// Names of the eight saliency metrics, of the two families of definitions, and the plain types that
// all of them take: a map, points on it. No torch, no files.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ubique/data/images/image.h"

namespace ubique::msinet {

/// Mit: the MATLAB code of the MIT saliency benchmark: repeated points count once, sample
/// deviation, maps min-max scaled. Tuebingen: pysaliency and the benchmark of today: every fixation
/// counts.
enum class Definition { Mit, Tuebingen };

enum class Metric { AucJudd, AucBorji, ShuffledAuc, Nss, Cc, Kld, Sim, Ig };
inline constexpr std::size_t kMetricCount = 8;

std::string_view to_string(Definition definition);         ///< "mit", "tuebingen"
Definition parse_definition(std::string_view text);        ///< Usage error for an unknown word
std::string_view to_string(Metric metric);                 ///< "AUC-Judd", ... as in tables
std::string_view metric_key(Metric metric);                ///< "auc_judd", ... as in JSON
bool defined_in(Metric metric, Definition definition);     ///< AUC-Borji is MIT's alone
bool is_better(Metric metric, double value, double than);  ///< KLD is the one that should be small

/// A fixation: pixels from the left and the top edge, so that (0.7, 3.2) lies in column 0, row 3.
using MapPoint = data::Fixation;

/// A map that has been looked at once: it has the size it claims, its values are finite, and what
/// nearly every metric needs to know of it is known. T is float or double. It does not own the
/// values: rows from the top.
template <typename T>
struct MeasuredMap {
  /// Input error for an empty map, sides that do not give its length, a value that is not finite.
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
/// The middles of the points' pixels, each once, in the order of first mention.
std::vector<MapPoint> distinct_pixels(std::span<const MapPoint> points, int width);

/// The map at each point. Input error for no points at all and for one outside of the map.
template <typename T>
std::vector<double> values_at(const MeasuredMap<T>& map, std::span<const MapPoint> points);

}  // namespace ubique::msinet
