// SPDX-License-Identifier: Apache-2.0
// Draws shapes, colours, background and fixations of a scene, each from its own random stream.
#include "ubique/data/images/scenes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "ubique/base/error.h"
#include "ubique/base/numbers/random.h"
#include "ubique/data/images/blur.h"
#include "ubique/data/images/resize.h"

namespace ubique::data {
namespace {

// Shares of the fixation density, and relative weights of the shapes.
constexpr double kShapeShare = 0.75, kCentreShare = 0.20, kUniformShare = 0.05;
constexpr double kDistractorWeight = 0.06, kUsualRadius = 3.5, kCentreSpread = 0.22;
constexpr double kCloudDeviation = 22, kGrainDeviation = 6;

using Colour = std::array<double, 3>;

/// Sequential draws from a stream.
class SceneDraw {
 public:
  explicit SceneDraw(Random random) : random_(random) {}

  double uniform(double low, double high) { return low + (high - low) * random_.uniform(next_++); }
  int whole(int low, int high) {  // inclusive
    const auto count = static_cast<std::uint64_t>(high - low + 1);
    return low + static_cast<int>(random_.below(next_++, count));
  }
  double normal() { return random_.normal(next_++); }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

/// Each part of a scene has its own stream, so that changing one leaves the others as they are.
enum class ScenePart : std::uint64_t { Shapes, Colours, Clouds, Grain, Fixations };

SceneDraw draw_for(const Random& scene, ScenePart part) {
  return SceneDraw(scene.fork(static_cast<std::uint64_t>(part)));
}

double unit_of(FrameSize size) { return std::min(size.height / 64.0, size.width / 80.0); }

Colour from_hue(double hue, double saturation, double value) {
  Colour colour;
  for (std::size_t c = 0; c < 3; ++c) {
    const double turn = std::fmod(hue + 1 - static_cast<double>(c) / 3 + 1, 1.0) * 6;
    const double ramp = std::clamp(std::abs(turn - 3) - 1, 0.0, 1.0);
    colour[c] = 255 * value * (1 - saturation * (1 - ramp));
  }
  return colour;
}

bool overlaps(const SceneShape& shape, const std::vector<SceneShape>& others, double gap) {
  return std::ranges::any_of(others, [&](const SceneShape& other) {
    return std::hypot(shape.x - other.x, shape.y - other.y) < shape.radius + other.radius + gap;
  });
}

std::vector<SceneShape> place_shapes(const Random& scene, FrameSize size) {
  auto draw = draw_for(scene, ScenePart::Shapes);
  const double unit = unit_of(size);
  const int distractors = draw.whole(6, 10), odd = draw.whole(1, 3);
  constexpr int kTries = 200;  // then the shape is left out; odd ones are placed first
  std::vector<SceneShape> shapes;
  for (int i = 0; i < odd + distractors; ++i) {
    SceneShape shape;
    shape.odd = i < odd;
    shape.form = static_cast<SceneShape::Form>(draw.whole(0, 2));
    shape.radius = unit * draw.uniform(2.6, 4.6);
    shape.angle = draw.uniform(0, std::numbers::pi);
    for (int attempt = 0; attempt < kTries; ++attempt) {
      shape.x = draw.uniform(shape.radius, size.width - 1 - shape.radius);
      shape.y = draw.uniform(shape.radius, size.height - 1 - shape.radius);
      if (overlaps(shape, shapes, 1.5 * unit)) continue;
      shapes.push_back(shape);
      break;
    }
  }
  return shapes;
}

bool covers(const SceneShape& shape, double x, double y) {
  const double dx = x - shape.x, dy = y - shape.y;
  if (shape.form == SceneShape::Form::Disc) return std::hypot(dx, dy) <= shape.radius;
  if (shape.form == SceneShape::Form::Square) {
    return std::max(std::abs(dx), std::abs(dy)) <= 0.85 * shape.radius;
  }
  const double along = dx * std::cos(shape.angle) + dy * std::sin(shape.angle);
  const double across = dy * std::cos(shape.angle) - dx * std::sin(shape.angle);
  return std::abs(along) <= shape.radius && std::abs(across) <= 0.4 * shape.radius;
}

void paint(const SceneShape& shape, const Colour& colour, Image& image) {
  const auto first = [&](double centre) {
    return std::max(0, static_cast<int>(std::floor(centre - shape.radius)));
  };
  const auto last = [&](double centre, int length) {
    return std::min(length - 1, static_cast<int>(std::ceil(centre + shape.radius)));
  };
  for (int y = first(shape.y); y <= last(shape.y, image.height); ++y) {
    for (int x = first(shape.x); x <= last(shape.x, image.width); ++x) {
      if (!covers(shape, x, y)) continue;
      auto* pixel = image.values.data() + static_cast<std::size_t>(y) * image.row() +
                    static_cast<std::size_t>(x) * 3;
      for (std::size_t c = 0; c < 3; ++c) pixel[c] = static_cast<float>(colour[c]);
    }
  }
}

/// A flat colour plus smooth noise (interpolated from a coarse grid).
Image background(const Random& scene, FrameSize size, const Colour& flat) {
  auto draw = draw_for(scene, ScenePart::Clouds);
  Image grid{5, 6, 3, {}};
  grid.values.resize(grid.size());
  for (std::size_t i = 0; i < grid.values.size(); ++i) {
    grid.values[i] = static_cast<float>(flat[i % 3] + kCloudDeviation * draw.normal());
  }
  return resize(grid, size, ResizeMethod::Bicubic);
}

io::Picture paint_scene(const Random& scene, FrameSize size,
                        const std::vector<SceneShape>& shapes) {
  auto draw = draw_for(scene, ScenePart::Colours);
  const Colour flat = {draw.uniform(70, 185), draw.uniform(70, 185), draw.uniform(70, 185)};
  const double hue = draw.uniform(0, 1), odd_hue = std::fmod(hue + draw.uniform(0.3, 0.7), 1.0);
  auto image = background(scene, size, flat);
  for (const auto& shape : shapes) {
    const double saturation = draw.uniform(0.7, 0.95), value = draw.uniform(0.7, 0.95);
    paint(shape, from_hue(shape.odd ? odd_hue : hue, saturation, value), image);
  }
  const auto grain = scene.fork(static_cast<std::uint64_t>(ScenePart::Grain));
  std::vector<float> noise(image.values.size());
  grain.fill_normal(noise, 0, static_cast<float>(kGrainDeviation));
  std::ranges::transform(image.values, noise, image.values.begin(), std::plus<>());
  return to_picture(image);
}

/// Adds a Gaussian whose sum over the frame is `share`.
void add_gaussian(std::vector<double>& density, FrameSize size, double x, double y, double sd_x,
                  double sd_y, double share) {
  const auto profile = [](int length, double centre, double deviation) {
    std::vector<double> values;
    for (int i = 0; i < length; ++i) {
      const double z = (i - centre) / deviation;
      values.push_back(std::exp(-0.5 * z * z));
    }
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    for (auto& value : values) value /= sum;
    return values;
  };
  const auto across = profile(size.width, x, sd_x), down = profile(size.height, y, sd_y);
  auto* out = density.data();
  for (const double row : down) {
    for (const double column : across) *out++ += share * row * column;
  }
}

std::vector<double> density_of(const std::vector<SceneShape>& shapes, FrameSize size) {
  const double unit = unit_of(size);
  const auto pixels = static_cast<double>(size.height) * size.width;
  std::vector<double> density(static_cast<std::size_t>(pixels), kUniformShare / pixels);
  add_gaussian(density, size, 0.5 * (size.width - 1), 0.5 * (size.height - 1),
               kCentreSpread * size.width, kCentreSpread * size.height, kCentreShare);
  const auto weight = [&](const SceneShape& shape) {
    return (shape.odd ? 1 : kDistractorWeight) * shape.radius / (unit * kUsualRadius);
  };
  double total = 0;
  for (const auto& shape : shapes) total += weight(shape);
  for (const auto& shape : shapes) {
    const double deviation = 0.55 * shape.radius + unit;
    add_gaussian(density, size, shape.x, shape.y, deviation, deviation,
                 kShapeShare * weight(shape) / total);
  }
  return density;
}

std::vector<Fixation> draw_fixations(const Random& scene, const std::vector<double>& density,
                                     FrameSize size) {
  auto draw = draw_for(scene, ScenePart::Fixations);
  std::vector<double> below(density.size());
  std::partial_sum(density.begin(), density.end(), below.begin());
  std::vector<Fixation> fixations(static_cast<std::size_t>(draw.whole(50, 80)));
  for (auto& fixation : fixations) {
    const auto found =
        std::upper_bound(below.begin(), below.end() - 1, draw.uniform(0, below.back()));
    const auto pixel = static_cast<int>(found - below.begin());
    fixation = {static_cast<double>(pixel % size.width), static_cast<double>(pixel / size.width)};
  }
  return fixations;
}

}  // namespace

double scene_sigma(FrameSize size) { return 2.5 * unit_of(size); }

Scene make_scene(const SceneOptions& options, std::int64_t index) {
  const auto [height, width] = options.size;
  check(height >= 16 && width >= 16 && height <= 2048 && width <= 2048, ErrorKind::Usage,
        "[data.scenes] scenes cannot have {} x {} pixels; expected sides of 16 to 2048.", height,
        width);
  check(index >= 0, ErrorKind::Usage, "[data.scenes] there is no scene {}; they count from 0.",
        index);
  const auto random = Random(options.seed).fork(static_cast<std::uint64_t>(index));
  Scene scene;
  scene.shapes = place_shapes(random, options.size);
  scene.picture = paint_scene(random, options.size, scene.shapes);
  const auto density = density_of(scene.shapes, options.size);
  scene.density = {height, width, 1, {density.begin(), density.end()}};
  scene.fixations = draw_fixations(random, density, options.size);
  scene.target =
      fixation_map(scene.fixations, options.size, {scene_sigma(options.size)}, "a scene");
  return scene;
}

}  // namespace ubique::data
