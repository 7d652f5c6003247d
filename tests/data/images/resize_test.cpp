// SPDX-License-Identifier: Apache-2.0
// Resizing and framing against TensorFlow's results, and against values computed by hand.
#include "ubique/data/images/resize.h"

#include "goldens.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/data/images/frame.h"

using namespace ubique;
using data::Image;
using data::ResizeMethod;

namespace {

constexpr double kTolerance = 2e-4;

struct Preprocessing {
  explicit Preprocessing(const std::filesystem::path& folder)
      : cases(parse_json(read_file(folder / "preprocess.json"), "preprocess.json")),
        tensors(folder / "preprocess.safetensors") {}

  Json cases;
  io::SafetensorsFile tensors;
};

data::FrameSize size_of(const Json& json) { return {json[0].get<int>(), json[1].get<int>()}; }

std::vector<float> row_resized(const std::vector<float>& row, int width, ResizeMethod method) {
  const Image image{1, static_cast<int>(row.size()), 1, row};
  return data::resize(image, {1, width}, method).values;
}

}  // namespace

TEST_CASE("resize: area and bicubic are TensorFlow's") {
  const auto folder = test::shared_folder("golden/msinet/preprocess");
  if (folder.empty()) return;
  const Preprocessing golden(folder);
  for (const auto& entry : golden.cases["raw_resize"]) {
    const auto key = entry["key"].get<std::string>();
    CAPTURE(key);
    const auto method = entry["method"] == "area" ? ResizeMethod::Area : ResizeMethod::Bicubic;
    const auto out = data::resize(test::golden_picture(golden.tensors, key + "/in_uint8"),
                                  size_of(entry["out"]), method);
    const auto want = test::golden_values<float>(golden.tensors, key + "/out");
    CHECK(test::largest_difference(out.values, want) < kTolerance);
  }
}

TEST_CASE("frame: pictures and maps are prepared as by MSI-Net's program") {
  const auto folder = test::shared_folder("golden/msinet/preprocess");
  if (folder.empty()) return;
  const Preprocessing golden(folder);
  for (const auto& entry : golden.cases["preprocess"]) {
    const auto key = entry["key"].get<std::string>();
    CAPTURE(key);
    const auto picture = test::golden_picture(golden.tensors, key + "/in_uint8");
    const auto frame = size_of(entry["target"]);
    const auto place = data::fit_inside({picture.height, picture.width}, frame);
    CHECK(place.size == size_of(entry["resized"]));
    CHECK(place.top == entry["pad_top_left"][0].get<int>());
    CHECK(place.left == entry["pad_top_left"][1].get<int>());
    const auto out = data::prepare(picture, frame, entry["pad_value"].get<float>());
    const auto want = test::golden_values<float>(golden.tensors, key + "/out");
    CHECK(test::largest_difference(out.values, want) < kTolerance);
  }
}

TEST_CASE("frame: maps come back to the picture's size as by MSI-Net's program") {
  const auto folder = test::shared_folder("golden/msinet/preprocess");
  if (folder.empty()) return;
  const Preprocessing golden(folder);
  for (const auto& entry : golden.cases["postprocess"]) {
    const auto key = entry["key"].get<std::string>();
    CAPTURE(key);
    const auto from = size_of(entry["map"]), picture = size_of(entry["original"]);
    const auto place = data::fit_around(from, picture);
    CHECK(place.size == size_of(entry["resized"]));
    CHECK(place.top == entry["crop_top_left"][0].get<int>());
    CHECK(place.left == entry["crop_top_left"][1].get<int>());
    const Image map{from.height, from.width, 1,
                    test::golden_values<float>(golden.tensors, key + "/map")};
    const auto out = data::restore(map, picture);
    const auto want = test::golden_values<float>(golden.tensors, key + "/cropped");
    CHECK(test::largest_difference(out.values, want) < kTolerance);
    const auto bytes = data::to_picture(out).pixels;
    const auto want_bytes = test::golden_values<std::uint8_t>(golden.tensors, key + "/uint8");
    REQUIRE(bytes.size() == want_bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const double half = std::abs(want[i] - std::floor(want[i]) - 0.5);
      if (half > kTolerance) CHECK(bytes[i] == want_bytes[i]);
    }
  }
}

TEST_CASE("resize: the same size gives the same values") {
  const auto image = test::wavy(5, 7, 3);
  for (const auto method : {ResizeMethod::Bicubic, ResizeMethod::Bilinear}) {
    CHECK(test::largest_difference(data::resize(image, {5, 7}, method).values, image.values) ==
          0.0);
  }
}

TEST_CASE("resize: bilinear maps pixel centres to pixel centres") {
  const std::vector<float> row = {0, 4, 8, 12};
  CHECK(row_resized(row, 2, ResizeMethod::Bilinear) == std::vector<float>{2, 10});
  CHECK(row_resized({0, 4}, 4, ResizeMethod::Bilinear) == std::vector<float>{0, 1, 3, 4});
}

TEST_CASE("resize: one pixel fills any size by any method") {
  const Image pixel{1, 1, 3, {5, 6, 7}};
  for (const auto method : {ResizeMethod::Area, ResizeMethod::Bicubic, ResizeMethod::Bilinear}) {
    const auto out = data::resize(pixel, {3, 2}, method);
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      CHECK(out.values[i] == doctest::Approx(pixel.values[i % 3]));
    }
  }
}

TEST_CASE("resize: the number of threads does not change a bit") {
  const auto image = test::wavy(61, 47, 3);
  for (const auto method : {ResizeMethod::Area, ResizeMethod::Bicubic, ResizeMethod::Bilinear}) {
    const auto one = data::resize(image, {100, 33}, method, 1);
    CHECK(data::resize(image, {100, 33}, method, 5).values == one.values);
  }
}

TEST_CASE("resize: 8-bit pictures and numbers give the same") {
  const auto picture = data::to_picture(test::wavy(20, 30, 4));
  const auto image = data::to_image(picture);
  CHECK(data::resize(picture, {9, 9}, ResizeMethod::Area).values ==
        data::resize(image, {9, 9}, ResizeMethod::Area).values);
}

TEST_CASE("resize: a part equals the same part of the whole") {
  const auto image = test::wavy(23, 31, 3);
  for (const auto method : {ResizeMethod::Area, ResizeMethod::Bicubic, ResizeMethod::Bilinear}) {
    for (const data::FrameSize size : {data::FrameSize{9, 12}, {57, 60}, {9, 60}}) {
      const auto whole = data::resize(image, size, method);
      const auto part = data::resize_part(image, size, {2, 5, {6, 7}}, method, 2);
      REQUIRE(part.values.size() == 6 * 7 * 3);
      for (int y = 0; y < 6; ++y) {
        for (int i = 0; i < 7 * 3; ++i) {
          const auto here = static_cast<std::size_t>(y * 21 + i);
          const auto there = static_cast<std::size_t>((y + 2) * size.width * 3 + 5 * 3 + i);
          CHECK(part.values[here] == whole.values[there]);
        }
      }
    }
  }
  CHECK(test::contains(test::error_of([&] {
                         data::resize_part(image, {9, 12}, {4, 5, {6, 7}}, ResizeMethod::Area);
                       }),
                       "not within 9 x 12"));
}

TEST_CASE("frame: a map for a long strip takes no more memory than the strip") {
  Image map{24, 32, 1, std::vector<float>(24 * 32, 0.5F)};
  const auto strip =
      data::restore(map, {10, 30'000});  // enlarged whole it would have 675 million values
  CHECK(strip.values.size() == 300'000);
  CHECK(strip.values.front() == doctest::Approx(127.5));
}

TEST_CASE("resize: empty sizes are refused") {
  const auto image = test::wavy(4, 4, 1);
  CHECK(test::error_of([&] {
          data::resize(image, {0, 4}, ResizeMethod::Area);
        }).starts_with("internal: [data.resize]"));
  CHECK(test::error_of([&] {
          data::resize(Image{4, 4, 1, {}}, {2, 2}, ResizeMethod::Area);
        }).starts_with("internal: [data.resize]"));
}

TEST_CASE("frame: a strip of one pixel keeps a pixel, a picture of one pixel fills the frame") {
  CHECK(data::fit_inside({1, 1000}, {240, 320}).size == data::FrameSize{1, 320});
  const io::Picture strip{1000, 1, 1, std::vector<std::uint8_t>(1000, 200)};
  const auto out = data::prepare(strip, {24, 32}, data::kMapPad);
  CHECK(out.values[11 * 32] == doctest::Approx(200));
  CHECK(out.values[0] == 0);
  const auto dot = data::prepare(io::Picture{1, 1, 3, {9, 9, 9}}, {8, 8}, data::kPicturePad);
  CHECK(dot.values[3 * 24 + 12] == 9);
  const auto back = data::restore(test::wavy(24, 32, 1), {1, 1});
  CHECK(back.values.size() == 1);
}

TEST_CASE("frame: points move as pixels do") {
  // 20 x 40 into 40 x 40: not scaled, 10 rows of padding above.
  const auto place = data::to_frame({0, 0}, {20, 40}, {40, 40});
  CHECK(place == data::Fixation{0, 10});
  const auto half = data::to_frame({39, 19}, {40, 40}, {20, 20});
  CHECK(half == data::Fixation{19.25, 9.25});
}

TEST_CASE("image: halves are rounded to even and values are clamped to 0..255") {
  const auto picture = data::to_picture({1, 5, 1, {0.5F, 1.5F, 2.5F, -3, 300}});
  CHECK(picture.pixels == std::vector<std::uint8_t>{0, 2, 2, 0, 255});
}
