// SPDX-License-Identifier: Apache-2.0
// Synthetic scenes: reproducible, as described, and written as a data set.
#include "ubique/data/images/scenes.h"

#include <algorithm>
#include <numeric>

#include "goldens.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/data/images/datasets.h"

using namespace ubique;
using data::SceneOptions;

TEST_CASE("scenes: the same seed gives the same scene, another one another") {
  const SceneOptions options;
  const auto a = data::make_scene(options, 7), b = data::make_scene(options, 7);
  CHECK(a.picture.pixels == b.picture.pixels);
  CHECK(a.fixations == b.fixations);
  CHECK(data::make_scene(options, 8).picture.pixels != a.picture.pixels);
  SceneOptions other;
  other.seed = 43;
  CHECK(data::make_scene(other, 7).picture.pixels != a.picture.pixels);
}

TEST_CASE("scenes: shapes, fixations and maps are consistent, in any size") {
  for (const auto size : {data::FrameSize{64, 80}, {16, 16}, {120, 160}, {33, 200}}) {
    SceneOptions options;
    options.size = size;
    for (int index = 0; index < 5; ++index) {
      const auto scene = data::make_scene(options, index);
      CHECK(scene.picture.width == size.width);
      CHECK(scene.picture.height == size.height);
      CHECK(scene.picture.channels == 3);
      const auto odd = std::ranges::count(scene.shapes, true, &data::SceneShape::odd);
      CHECK(odd >= 1);
      CHECK(odd <= 3);
      CHECK(scene.shapes.size() <= 13);
      CHECK(scene.fixations.size() >= 50);
      CHECK(scene.fixations.size() <= 80);
      for (const auto& [x, y] : scene.fixations) {
        CHECK((x >= 0 && y >= 0 && x < size.width && y < size.height));
      }
      const double sum =
          std::accumulate(scene.density.values.begin(), scene.density.values.end(), 0.0);
      CHECK(sum == doctest::Approx(1).epsilon(1e-5));
      CHECK(std::ranges::max(scene.target.values) == doctest::Approx(255));
      CHECK(scene.target.values.size() == scene.density.values.size());
    }
  }
}

TEST_CASE("scenes: shapes do not overlap and lie inside") {
  const SceneOptions options;
  for (int index = 0; index < 20; ++index) {
    const auto shapes = data::make_scene(options, index).shapes;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      CHECK(shapes[i].x >= shapes[i].radius);
      CHECK(shapes[i].y + shapes[i].radius <= 63);
      for (std::size_t j = 0; j < i; ++j) {
        const double gap = std::hypot(shapes[i].x - shapes[j].x, shapes[i].y - shapes[j].y);
        CHECK(gap > shapes[i].radius + shapes[j].radius);
      }
    }
  }
}

TEST_CASE("scenes: fixations go to the odd shapes more than elsewhere") {
  const SceneOptions options;
  int near_odd = 0, near_others = 0, all = 0;
  for (int index = 0; index < 50; ++index) {
    const auto scene = data::make_scene(options, index);
    for (const auto& [x, y] : scene.fixations) {
      ++all;
      for (const auto& shape : scene.shapes) {
        if (std::hypot(x - shape.x, y - shape.y) > shape.radius + 3) continue;
        ++(shape.odd ? near_odd : near_others);
      }
    }
  }
  CHECK(near_odd > all / 2);
  CHECK(near_others < all / 3);
}

TEST_CASE("scenes: the odd shapes have another hue than the rest") {
  const SceneOptions options;
  for (int index = 0; index < 10; ++index) {
    const auto scene = data::make_scene(options, index);
    const auto colour = [&](const data::SceneShape& shape) {
      const auto place = static_cast<std::size_t>(std::lround(shape.y) * 80 + std::lround(shape.x));
      const auto* pixel = scene.picture.pixels.data() + 3 * place;
      return std::array<int, 3>{pixel[0], pixel[1], pixel[2]};
    };
    const auto distance = [](const std::array<int, 3>& a, const std::array<int, 3>& b) {
      return std::abs(a[0] - b[0]) + std::abs(a[1] - b[1]) + std::abs(a[2] - b[2]);
    };
    const auto& odd = scene.shapes.front();
    const auto& other = scene.shapes.back();
    REQUIRE((odd.odd && !other.odd));
    CHECK(distance(colour(odd), colour(other)) > 100);
  }
}

TEST_CASE("scenes: sizes out of range are refused") {
  SceneOptions options;
  options.size = {8, 80};
  CHECK(test::error_of([&] { data::make_scene(options, 0); }).starts_with("usage: [data.scenes]"));
  CHECK(test::error_of([] { data::make_scene({}, -1); }).starts_with("usage: [data.scenes]"));
}

TEST_CASE("scenes: written as a data set that opens") {
  const test::ScratchFolder folder;
  SceneOptions options;
  options.train = 4;
  options.valid = 2;
  std::int64_t last = 0;
  data::write_scenes(folder / "set", options, 2,
                     [&](std::int64_t done, std::int64_t) { last = std::max(last, done); });
  CHECK(last == 6);
  const auto data = data::open_saliency_folders(
      {folder / "set/stimuli", folder / "set/maps", folder / "set/fixations", options.size});
  REQUIRE(data.train.size() == 4);
  REQUIRE(data.valid.size() == 2);
  const auto scene = data::make_scene(options, 4);
  CHECK(data::read_stimulus(data.valid[0]).pixels == scene.picture.pixels);
  CHECK(data::fixations_of(data.valid[0]) == scene.fixations);
  const auto target = data::read_target(data.valid[0], {});
  CHECK(test::largest_difference(target.values, scene.target.values) <= 0.5);
}

TEST_CASE("scenes: written again into the same folder, but never over something else") {
  const test::ScratchFolder folder;
  SceneOptions options;
  options.train = 1;
  options.valid = 0;
  data::write_scenes(folder / "set", options);
  data::write_scenes(folder / "set", options);
  options.seed = 1;
  CHECK(test::contains(test::error_of([&] { data::write_scenes(folder / "set", options); }),
                       "usage: [data.scenes]"));
  make_folder(folder / "mine");
  write_file(folder / "mine/x", "");
  CHECK(test::contains(test::error_of([&] { data::write_scenes(folder / "mine", options); }),
                       "is not empty"));
}
