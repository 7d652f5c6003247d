// SPDX-License-Identifier: Apache-2.0
// Synthetic maps and points for the tests of the metrics, and the golden set.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/base/scratch.h"
#include "tests/shared.h"
#include "ubique/base/files/file.h"
#include "ubique/base/numbers/random.h"
#include "ubique/base/text/json.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/models/msinet/score/metric.h"

namespace ubique::msinet::samples {

template <typename T>
struct Map {
  std::vector<T> values;
  int width = 0, height = 0;

  MeasuredMap<T> measured() const { return {values, width, height}; }
};

/// Hills and noise; with `levels` above 0 the values are rounded to that many, so that many tie.
template <typename T = float>
Map<T> hilly_map(int width, int height, std::uint64_t seed, int levels = 0) {
  Map<T> map{{}, width, height};
  const Random random(seed);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double value = std::sin(0.3 * x + static_cast<double>(seed)) * std::cos(0.2 * y) +
                     0.3 * random.uniform(map.values.size()) + 1.1;
      if (levels > 0) value = std::floor(value * levels) / levels;
      map.values.push_back(static_cast<T>(value));
    }
  }
  return map;
}

inline std::vector<MapPoint> some_points(int width, int height, int count, std::uint64_t seed) {
  const Random random(seed, 9);
  std::vector<MapPoint> points;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint64_t>(2 * i);
    points.push_back({random.uniform(at) * width, random.uniform(at + 1) * height});
  }
  return points;
}

/// One image of the golden set.
struct GoldenImage {
  Map<double> map, blurred, density, baseline;
  std::vector<MapPoint> points;
  Json tuebingen, mit;
};

template <typename T>
std::vector<double> golden_values(const io::SafetensorsFile& file, const std::string& name) {
  const auto* tensor = file.find(name);
  REQUIRE(tensor != nullptr);
  const auto bytes = file.bytes(*tensor);
  std::vector<T> raw(bytes.size() / sizeof(T));
  std::memcpy(raw.data(), bytes.data(), bytes.size());
  return {raw.begin(), raw.end()};
}

struct GoldenSet {
  std::vector<GoldenImage> images;
  Json numbers;
};

/// No images where the golden folder is absent.
inline GoldenSet golden_set() {
  const auto folder = test::shared_folder("golden/msinet/metrics");
  if (folder.empty()) return {};
  GoldenSet set;
  set.numbers = parse_json(read_file(folder / "metrics.json"), "metrics.json");
  const io::SafetensorsFile file(folder / "metrics.safetensors");
  for (const auto& row : set.numbers.at("per_image")) {
    const auto prefix = std::to_string(row.at("index").get<int>()) + "/";
    const int height = row.at("size")[0].get<int>(), width = row.at("size")[1].get<int>();
    GoldenImage image;
    image.map = {golden_values<float>(file, prefix + "map"), width, height};
    image.blurred = {golden_values<float>(file, prefix + "blurred"), width, height};
    image.density = {golden_values<double>(file, prefix + "density"), width, height};
    image.baseline = {golden_values<double>(file, prefix + "baseline"), width, height};
    const auto points = golden_values<std::int32_t>(file, prefix + "points_xy");
    for (std::size_t i = 0; i < points.size(); i += 2) {
      image.points.push_back({points[i], points[i + 1]});
    }
    image.tuebingen = row.at("tuebingen");
    image.mit = row.at("mit");
    set.images.push_back(std::move(image));
  }
  return set;
}

inline Map<float> as_float(const Map<double>& map) {
  return {{map.values.begin(), map.values.end()}, map.width, map.height};
}

}  // namespace ubique::msinet::samples
