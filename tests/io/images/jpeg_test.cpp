// SPDX-License-Identifier: Apache-2.0
// JPEG pictures. CMYK, progressive scans and EXIF data, which the writer never writes, are made
// with libjpeg directly.
#include <cstdio>
#include <cstdlib>
// jpeglib.h needs FILE from above.
#include <doctest/doctest.h>
#include <jpeglib.h>

#include <cmath>

#include "tests/base/scratch.h"
#include "tests/io/scans/nifti_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/io/images/image.h"
#include "ubique/io/images/jpeg.h"

using namespace ubique;
using io::Picture;

namespace {

/// Smooth, so that compression at quality 100 changes little.
Picture smooth(int width, int height, int channels) {
  Picture picture{width, height, channels, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const double wave = std::sin(0.2 * x + c) + std::cos(0.15 * y - c);
        picture.pixels.push_back(static_cast<std::uint8_t>(128 + 55 * wave));
      }
    }
  }
  return picture;
}

struct JpegForm {
  J_COLOR_SPACE in = JCS_RGB, stored = JCS_YCbCr;
  bool progressive = false, adobe = false;
};

std::string encoded(const Picture& picture, const JpegForm& form) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<JDIMENSION>(picture.width);
  jpeg.image_height = static_cast<JDIMENSION>(picture.height);
  jpeg.input_components = picture.channels;
  jpeg.in_color_space = form.in;
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, form.stored);
  jpeg_set_quality(&jpeg, 100, TRUE);
  for (int c = 0; c < jpeg.num_components; ++c) {
    jpeg.comp_info[c].h_samp_factor = jpeg.comp_info[c].v_samp_factor = 1;
  }
  if (form.progressive) jpeg_simple_progression(&jpeg);
  jpeg.write_Adobe_marker = form.adobe ? TRUE : FALSE;
  jpeg_start_compress(&jpeg, TRUE);
  for (int y = 0; y < picture.height; ++y) {
    auto* row = const_cast<JSAMPLE*>(picture.pixels.data() + y * picture.width * picture.channels);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string out(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&jpeg);
  std::free(bytes);
  return out;
}

Picture parse_sample(const std::string& file,
                     io::ExifOrientation exif = io::ExifOrientation::Apply) {
  return io::parse_jpeg(test::bytes_of(file), "x.jpg", exif);
}

std::string jpeg_error(const std::string& file) {
  return test::error_of([&] { parse_sample(file); });
}

int largest_difference(const Picture& a, const Picture& b) {
  REQUIRE(a.pixels.size() == b.pixels.size());
  int largest = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    largest = std::max(largest, std::abs(a.pixels[i] - b.pixels[i]));
  }
  return largest;
}

/// An EXIF segment with one entry: the orientation.
std::string exif(std::uint16_t orientation, bool big) {
  const auto n16 = [&](int v) { return test::number_bytes(static_cast<std::uint16_t>(v), big); };
  const auto n32 = [&](int v) { return test::number_bytes(static_cast<std::uint32_t>(v), big); };
  return std::string("Exif\0\0", 6) + (big ? "MM" : "II") + n16(42) + n32(8) + n16(1) +
         n16(0x0112) + n16(3) + n32(1) + n16(orientation) + n16(0) + n32(0);
}

std::string with_segment(const std::string& jpeg, const std::string& content) {
  const auto length = static_cast<std::uint16_t>(content.size() + 2);
  return jpeg.substr(0, 2) + "\xff\xe1" + test::number_bytes(length, true) + content +
         jpeg.substr(2);
}

/// The same header, another size.
std::string with_size(std::string jpeg, std::uint16_t width, std::uint16_t height) {
  const auto frame = jpeg.find("\xff\xc0");
  REQUIRE(frame != std::string::npos);
  jpeg.replace(frame + 5, 4, test::number_bytes(height, true) + test::number_bytes(width, true));
  return jpeg;
}

using Pixels = std::vector<std::uint8_t>;

}  // namespace

TEST_CASE("jpeg: grey and RGB pictures come back nearly as they were") {
  const test::ScratchFolder folder;
  for (const int channels : {1, 3}) {
    for (const auto& [width, height] : {std::pair(1, 1), {7, 3}, {131, 90}}) {
      const auto picture = smooth(width, height, channels);
      io::write_jpeg(folder / "x.jpg", picture, 100);
      const auto again = io::read_jpeg(folder / "x.jpg");
      CHECK(again.width == width);
      CHECK(again.height == height);
      CHECK(again.channels == channels);
      CHECK(largest_difference(again, picture) <= 4);
    }
  }
  CHECK(folder.count() == 1);
}

TEST_CASE("jpeg: a lower quality makes a smaller file") {
  const auto picture = smooth(200, 100, 3);
  CHECK(io::jpeg_bytes(picture, 30).size() < io::jpeg_bytes(picture, 95).size());
}

TEST_CASE("jpeg: progressive pictures are read") {
  const auto picture = smooth(40, 30, 3);
  const auto file = encoded(picture, {JCS_RGB, JCS_YCbCr, true, false});
  CHECK(largest_difference(parse_sample(file), picture) <= 4);
}

TEST_CASE("jpeg: CMYK becomes RGB, inverted or not") {
  Picture inks{16, 8, 4, {}};
  for (int i = 0; i < 16 * 8; ++i) inks.pixels.insert(inks.pixels.end(), {200, 100, 50, 128});
  const auto near = [](const Picture& picture, int r, int g, int b) {
    return picture.channels == 3 && std::abs(picture.pixels[0] - r) <= 3 &&
           std::abs(picture.pixels[1] - g) <= 3 && std::abs(picture.pixels[2] - b) <= 3;
  };
  // Adobe: 200 of 255 is how much light passes.
  CHECK(near(parse_sample(encoded(inks, {JCS_CMYK, JCS_CMYK, false, true})), 100, 50, 25));
  CHECK(near(parse_sample(encoded(inks, {JCS_CMYK, JCS_YCCK, false, true})), 100, 50, 25));
  CHECK(near(parse_sample(encoded(inks, {JCS_CMYK, JCS_CMYK, false, false})), 27, 77, 102));
}

TEST_CASE("jpeg: all eight EXIF orientations give the upright picture") {
  //  1 2      each stored form of it, by orientation
  //  3 4
  //  5 6
  const Picture upright{2, 3, 1, {1, 2, 3, 4, 5, 6}};
  const std::vector<Picture> stored = {
      {2, 3, 1, {1, 2, 3, 4, 5, 6}}, {2, 3, 1, {2, 1, 4, 3, 6, 5}}, {2, 3, 1, {6, 5, 4, 3, 2, 1}},
      {2, 3, 1, {5, 6, 3, 4, 1, 2}}, {3, 2, 1, {1, 3, 5, 2, 4, 6}}, {3, 2, 1, {2, 4, 6, 1, 3, 5}},
      {3, 2, 1, {6, 4, 2, 5, 3, 1}}, {3, 2, 1, {5, 3, 1, 6, 4, 2}}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    CAPTURE(orientation);
    const auto turned =
        io::apply_exif_orientation(stored[static_cast<std::size_t>(orientation - 1)], orientation);
    CHECK(turned.width == upright.width);
    CHECK(turned.height == upright.height);
    CHECK(turned.pixels == upright.pixels);
  }
}

TEST_CASE("jpeg: the EXIF orientation of either byte order is applied or ignored") {
  const auto plain = io::jpeg_bytes(smooth(20, 10, 3), 100);
  for (const bool big : {false, true}) {
    const auto file = with_segment(plain, exif(6, big));
    CHECK(parse_sample(file).width == 10);
    CHECK(parse_sample(file).height == 20);
    CHECK(parse_sample(file, io::ExifOrientation::Ignore).pixels == parse_sample(plain).pixels);
    CHECK(io::jpeg_size(test::bytes_of(file), "x") == io::PictureSize{10, 20});
    CHECK(io::jpeg_size(test::bytes_of(file), "x", io::ExifOrientation::Ignore) ==
          io::PictureSize{20, 10});
  }
}

TEST_CASE("jpeg: damaged EXIF data leaves the picture as it is") {
  const auto plain = io::jpeg_bytes(smooth(20, 10, 3), 100);
  const auto note = exif(6, true);
  for (std::size_t length = 0; length + 6 < note.size(); ++length) {
    CHECK(parse_sample(with_segment(plain, note.substr(0, length))).width == 20);
  }
  CHECK(parse_sample(with_segment(plain, exif(9, true))).width == 20);
  CHECK(parse_sample(with_segment(plain, exif(0, false))).width == 20);
}

TEST_CASE("jpeg: what is not a JPEG is refused by name") {
  CHECK(test::contains(jpeg_error(""),
                       "input: [io.jpeg] x.jpg is not a JPEG picture; it looks "
                       "like an empty file"));
  CHECK(test::contains(jpeg_error("\x89PNG\r\n\x1a\n"), "a PNG picture"));
  CHECK(test::contains(jpeg_error("<html>"), "a web page"));
}

TEST_CASE("jpeg: cut at any length, a picture is refused, but for its end mark") {
  for (const bool progressive : {false, true}) {
    const auto whole = encoded(smooth(24, 17, 3), {JCS_RGB, JCS_YCbCr, progressive, false});
    for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
      CAPTURE(length);
      CHECK(jpeg_error(whole.substr(0, length)).starts_with("input: [io.jpeg] x.jpg"));
    }
    CHECK(jpeg_error(whole) == "no error");
  }
}

TEST_CASE("jpeg: with any byte changed, a picture is read or refused") {
  const auto whole = encoded(smooth(16, 9, 3), {JCS_RGB, JCS_YCbCr, true, false});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const unsigned change : {1U, 64U, 255U}) {
      auto changed = whole;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ change);
      const auto error = jpeg_error(changed);
      CHECK((error == "no error" || error.starts_with("input: [io.jpeg] x.jpg")));
    }
  }
}

TEST_CASE("jpeg: sizes beyond the file or the limit are refused before decoding") {
  const auto small = io::jpeg_bytes(smooth(8, 8, 3), 50);
  CHECK(test::contains(jpeg_error(with_size(small, 65'500, 65'500)), "too large"));
  CHECK(test::contains(jpeg_error(with_size(small, 16'000, 16'000)), "cannot hold"));
  CHECK(jpeg_error(with_size(small, 0, 8)).starts_with("input: [io.jpeg]"));
}

TEST_CASE("jpeg: what a JPEG cannot hold is not written") {
  CHECK(test::error_of([] { io::jpeg_bytes(smooth(4, 4, 4)); }).starts_with("internal: "));
  CHECK(test::error_of([] { io::jpeg_bytes(smooth(4, 4, 3), 101); }).starts_with("usage: "));
  CHECK(test::error_of([] { io::jpeg_bytes(smooth(4, 4, 3), 0); }).starts_with("usage: "));
  CHECK(test::contains(test::error_of([] { io::jpeg_bytes(smooth(70'000, 1, 1)); }),
                       "input: [io.jpeg] a JPEG has at most 65500 pixels"));
  auto picture = smooth(4, 4, 3);
  picture.pixels.pop_back();
  CHECK(test::error_of([&] { io::jpeg_bytes(picture); }).starts_with("internal: "));
}

TEST_CASE("image: the content decides, not the name") {
  const test::ScratchFolder folder;
  const auto picture = smooth(5, 4, 3);
  write_file(folder / "a.jpg", io::png_bytes(picture));
  CHECK(io::read_image(folder / "a.jpg").pixels == picture.pixels);
  CHECK(io::image_size(folder / "a.jpg") == io::PictureSize{5, 4});
  write_file(folder / "b.png", io::jpeg_bytes(picture, 100));
  CHECK(largest_difference(io::read_image(folder / "b.png"), picture) <= 4);
  CHECK(io::image_size(folder / "b.png") == io::PictureSize{5, 4});
  write_file(folder / "c.png", "nothing");
  CHECK(test::contains(test::error_of([&] { io::read_image(folder / "c.png"); }),
                       "c.png is no picture that can be read; it looks like something unknown"));
  write_file(folder / "d.png", "\x89PNG\r\n\x1a\n");
  CHECK(test::contains(test::error_of([&] { io::image_size(folder / "d.png"); }), "cut short"));
}

TEST_CASE("image: pictures of other kinds are called by their names") {
  using std::string_literals::operator""s;
  const std::pair<std::string, std::string> kinds[] = {
      {"RIFF\x10\0\0\0WEBPVP8 "s, "a WebP picture"},
      {"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28"s, "a BMP picture"},
      {"GIF89a"s, "a GIF picture"},
      {"II*\0"s, "a TIFF picture"},
      {"MM\0*"s, "a TIFF picture"},
      {"\0\0\0\x18"s + "ftypheic", "a HEIC picture"},
      {"\0\0\0\x18"s + "ftypavif", "an AVIF picture"},
      {"RIFF\x10\0\0\0WAVEfmt "s, "a WAV sound"},
      {"BMW is a maker of cars"s, "something unknown"},
  };
  for (const auto& [bytes, name] : kinds) {
    const auto message = test::error_of(
        [&, &text = bytes] { io::parse_image(std::as_bytes(std::span(text)), "x.png"); });
    CHECK(test::contains(message, "it looks like " + name + ", expected PNG or JPEG."));
  }
}

TEST_CASE("image: written by the name's ending") {
  const test::ScratchFolder folder;
  const auto picture = smooth(5, 4, 4);
  io::write_image(folder / "a.PNG", picture);
  CHECK(io::read_image(folder / "a.PNG").pixels == picture.pixels);
  io::write_image(folder / "a.jpeg", picture, 100);
  CHECK(io::read_image(folder / "a.jpeg").channels == 3);
  CHECK(test::contains(test::error_of([&] { io::write_image(folder / "a.gif", picture); }),
                       "usage: [io.image] unknown kind of picture"));
  CHECK(folder.count() == 2);
}

TEST_CASE("image: a panorama of 30,000 pixels is read") {
  const test::ScratchFolder folder;
  io::write_image(folder / "a.jpg", Picture{30'000, 40, 1, Pixels(30'000 * 40, 77)});
  const auto again = io::read_image(folder / "a.jpg");
  CHECK(again.width == 30'000);
  CHECK(again.pixels.back() == 77);
}

TEST_CASE("image: grey and colours are turned into each other") {
  const auto rgb = io::as_rgb({2, 1, 1, {7, 9}});
  CHECK(rgb.channels == 3);
  CHECK(rgb.pixels == Pixels{7, 7, 7, 9, 9, 9});
  CHECK(io::as_rgb({1, 1, 4, {1, 2, 3, 200}}).pixels == Pixels{1, 2, 3});
  CHECK(io::as_grey({2, 1, 3, {255, 0, 0, 255, 255, 255}}).pixels == Pixels{76, 255});
  CHECK(io::as_grey({1, 1, 4, {10, 10, 10, 0}}).pixels == Pixels{10});
}
