// SPDX-License-Identifier: Apache-2.0
// Pictures end to end: results, threads, bad inputs, a full disk, formats.
#include <doctest/doctest.h>

#include "tests/models/msinet/use/run_samples.h"
#include "ubique/base/files/fault.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/models/msinet/use/map_files.h"

namespace ubique::msinet {
namespace {

struct Pictures : test::RunFixture {
  Pictures() {
    int number = 0;
    for (const auto& [width, height] : {std::pair{50, 30}, {31, 64}, {1, 1}, {90, 70}, {20, 20}}) {
      put(fmt::format("in/p{}.png", number), width, height, number);
      ++number;
    }
  }
  void put(const std::string& name, int width, int height, int number = 0) {
    std::filesystem::create_directories((folder / name).parent_path());
    io::write_image(folder / name, test::spot_picture(width, height, number));
  }
  std::map<std::string, std::string> results() const {
    std::map<std::string, std::string> found;
    for (const auto& name : names("out")) found[name] = read_file(folder / "out" / name);
    return found;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Pictures, "run: every picture gets a map and an overlay of its own size") {
  const auto done = pictures({path("in")});
  CHECK(done.written == 5);
  CHECK(done.failed.empty());
  CHECK(names("out").size() == 10);
  const auto map = io::read_image(folder / "out/p1_saliency.png");
  CHECK(map.width == 31);
  CHECK(map.height == 64);
  CHECK(map.channels == 1);
  CHECK(io::read_image(folder / "out/p3_overlay.png").width == 90);
  CHECK(io::read_image(folder / "out/p2_saliency.png").pixels.size() == 1);
}

TEST_CASE_FIXTURE(Pictures, "run: the number of threads does not change a byte of the results") {
  settings.boxes = {{"left", 0, 0, 0.5, 1}};
  settings.top = 2;
  settings.style.contours = {0.5};
  pictures({path("in")}, {3, 0, 0});
  const auto first = results();
  CHECK(first.size() == 12);
  for (const RunPace pace : {RunPace{3, 1, 1}, {3, 2, 3}, {3, 4, 1}}) {
    std::filesystem::remove_all(folder / "out");
    pictures({path("in")}, pace);
    CHECK((results() == first));
  }
}

TEST_CASE_FIXTURE(Pictures, "run: maps are the same in batches but for rounding") {
  pictures({path("in")}, {1, 1, 1});
  const auto alone = io::read_image(folder / "out/p3_saliency.png");
  pictures({path("in")}, {16, 1, 1});
  const auto together = io::read_image(folder / "out/p3_saliency.png");
  for (std::size_t i = 0; i < alone.pixels.size(); ++i) {
    CHECK(std::abs(alone.pixels[i] - together.pixels[i]) <= 1);
  }
}

TEST_CASE_FIXTURE(Pictures, "run: pictures that cannot be read are counted, the others are done") {
  const auto whole = read_file(folder / "in/p0.png");
  std::ofstream(folder / "in/p0b.png") << whole.substr(0, whole.size() / 2);
  std::ofstream(folder / "in/p0c.jpg")
      << io::jpeg_bytes(test::spot_picture(40, 40, 0)).substr(0, 500);
  std::ofstream(folder / "in/p0d.png") << "";
  std::filesystem::create_symlink("nowhere", folder / "in/p9.png");
  const auto done = pictures({path("in")}, {2, 2, 2});
  CHECK(done.written == 5);
  REQUIRE(done.failed.size() == 4);
  CHECK(done.failed[0].input == path("in/p0b.png"));
  CHECK(test::contains(done.failed[0].error, "cut short"));
  CHECK(test::contains(done.failed[1].error, "[io.jpeg]"));
  CHECK(test::contains(done.failed[2].error, "an empty file"));
  CHECK(test::contains(done.failed[3].error, "No such file"));
  CHECK(names("out").size() == 10);
}

TEST_CASE_FIXTURE(Pictures, "run: a picture beyond the limit is refused before it is decoded") {
  settings.max_pixels = 40 * 60;
  const auto done = pictures({path("in")});
  CHECK(done.written == 4);
  REQUIRE(done.failed.size() == 1);
  CHECK(test::contains(done.failed[0].error,
                       "p3.png is too large; got 90 x 70 = 6300 pixels, expected at most 2400"));
  CHECK(test::contains(done.failed[0].error, "the network sees 40 x 32 pixels of it"));
}

TEST_CASE("run: a picture that takes seconds and gigabytes is said to") {
  CHECK(large_picture_note("a.png", 12'000'000).empty());
  CHECK(test::contains(large_picture_note("a.png", 1 << 27),
                       "a.png has 134 megapixels: that takes up to 2.5 GiB of memory"));
}

TEST_CASE_FIXTURE(Pictures, "run: each result names its picture, and alpha that was ignored") {
  auto glass = io::Picture{2, 1, 4, {9, 9, 9, 255, 9, 9, 9, 255}};
  io::write_png(folder / "in/opaque.png", glass);
  glass.pixels.back() = 7;
  io::write_png(folder / "in/glass.png", glass);
  settings.overlay = false;
  std::ofstream(folder / "in/p0.png") << "broken";
  const auto done = pictures({path("in/p1.png"), path("in")}, {2, 2, 2});
  REQUIRE(done.results.size() == 6);
  CHECK(done.results[0].picture == folder / "in/p1.png");
  CHECK(done.results[0].map == folder / "out/p1_saliency.png");
  CHECK(done.results[0].overlay.empty());
  CHECK(done.results[1].picture == folder / "in/glass.png");
  CHECK(done.results[1].alpha_ignored);
  CHECK(done.results[2].picture == folder / "in/opaque.png");
  CHECK_FALSE(done.results[2].alpha_ignored);
}

TEST_CASE_FIXTURE(Pictures, "run: a box outside of a picture is a matter of that picture") {
  settings.boxes = {{"corner", 25, 15, 10, 10}};
  const auto done = pictures({path("in")});
  CHECK(done.written == 3);
  REQUIRE(done.failed.size() == 2);
  CHECK(test::contains(done.failed[0].error, "box 'corner' lies outside"));
  CHECK_FALSE(std::filesystem::exists(folder / "out/p2_saliency.png"));
}

TEST_CASE_FIXTURE(Pictures, "run: tables keep the lines of earlier runs into the same folder") {
  settings.top = 1;
  pictures({path("in/p0.png"), path("in/p1.png")});
  const auto first = read_file(folder / "out/fixations.csv");
  CHECK(first.starts_with("image,rank,x,y,share\n" + path("in/p0.png") + ",1,"));
  pictures({path("in/p1.png"), path("in/p3.png")});
  const auto second = read_file(folder / "out/fixations.csv");
  CHECK(second.starts_with(first.substr(0, first.find("p1.png"))));
  CHECK(std::ranges::count(second, '\n') == 4);
}

TEST_CASE_FIXTURE(Pictures, "run: what is done can be left alone") {
  pictures({path("in/p0.png")});
  const auto before = std::filesystem::last_write_time(folder / "out/p0_saliency.png");
  settings.skip_existing = true;
  const auto done = pictures({path("in")});
  CHECK(done.skipped == 1);
  CHECK(done.written == 4);
  CHECK(std::filesystem::last_write_time(folder / "out/p0_saliency.png") == before);
}

TEST_CASE_FIXTURE(Pictures, "run: asked to stop, it finishes what it has begun and no more") {
  settings.stop = [] { return true; };
  const auto done = pictures({path("in")}, {2, 1, 1});
  CHECK(done.stopped);
  CHECK(done.written == 2);
  CHECK(names("out").size() == 4);
}

TEST_CASE_FIXTURE(Pictures, "run: a full disk ends it, and nothing is half-written") {
  for (const auto* fault : {"file.write:3=enospc", "file.rename:2=enospc"}) {
    arm_faults(fault);
    const auto message = test::refusal_of(ErrorKind::Input, [&] {
      pictures({path("in")}, {1, 1, 2});
    });
    arm_faults("");
    CHECK(test::contains(message, "No space left"));
    for (const auto& name : names("out")) {
      CHECK(name.ends_with(".png"));
      CHECK(io::read_image(folder / "out" / name).width > 0);
    }
    std::filesystem::remove_all(folder / "out");
  }
}

TEST_CASE_FIXTURE(Pictures, "run: a place that cannot be written to is named") {
  settings.output = folder / "in/p0.png";
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { pictures({path("in/p1.png")}); }),
                       "cannot make the folder"));
}

TEST_CASE_FIXTURE(Pictures, "run: maps are written with 8 or 16 bits, as numbers or as JPEG") {
  const auto read = [&](MapFormat format, const std::string& ending) {
    settings.format = format;
    pictures({path("in/p0.png")});
    return read_file(folder / ("out/p0_saliency." + ending));
  };
  const auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  const auto exact = io::parse_npy(bytes(read(MapFormat::Npy, "npy")), "npy");
  CHECK(exact.shape == io::Shape{30, 50});
  const auto* values = reinterpret_cast<const float*>(exact.bytes.data());
  const auto plain = io::parse_image(bytes(read(MapFormat::Png, "png")), "png");
  const auto deep_file = read(MapFormat::Png16, "png");
  CHECK(static_cast<int>(deep_file[24]) == 16);
  const auto deep = io::parse_image(bytes(deep_file), "png16");
  const auto jpeg = io::parse_image(bytes(read(MapFormat::Jpeg, "jpg")), "jpeg");
  for (std::size_t i = 0; i < plain.pixels.size(); ++i) {
    CHECK(plain.pixels[i] == doctest::Approx(values[i] * 255).epsilon(0).scale(1).epsilon(0.51));
    CHECK(std::abs(deep.pixels[i] - plain.pixels[i]) <= 1);
    CHECK(std::abs(jpeg.pixels[i] - plain.pixels[i]) <= 8);
  }
  CHECK(std::filesystem::exists(folder / "out/p0_overlay.jpg"));
  const data::Image map{1, 3, 1, {0, 127.5, 255}};
  CHECK(map_file_bytes(map, MapFormat::Png16) ==
        io::png_bytes(io::DeepPicture{3, 1, {0, 32768, 65535}}, io::PngEffort::Fast));
}

}  // namespace ubique::msinet
