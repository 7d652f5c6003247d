// SPDX-License-Identifier: Apache-2.0
// PNG pictures. Some are built chunk by chunk, for what the writer never writes: palettes, 16 bits,
// interlacing, transparent colours.
#include <doctest/doctest.h>
#include <zlib.h>

#include "tests/base/scratch.h"
#include "tests/io/scans/nifti_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/io/images/png.h"

using namespace ubique;
using io::Picture;

namespace {

constexpr char kGrey = 0, kRgb = 2, kPalette = 3, kGreyAlpha = 4;

std::string big(std::uint32_t value) { return test::number_bytes(value, true); }

std::string chunk(const std::string& name, const std::string& data) {
  const auto body = name + data;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big(static_cast<std::uint32_t>(data.size())) + body + big(static_cast<std::uint32_t>(sum));
}

std::string deflated(const std::string& content) {
  uLongf size = compressBound(content.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size,
           reinterpret_cast<const Bytef*>(content.data()), content.size());
  out.resize(size);
  return out;
}

/// `rows` are as in the file: each begins with its filter, 0.
std::string png_of(std::uint32_t width, std::uint32_t height, char bits, char colour,
                   const std::string& rows, const std::string& extra = {}, char interlace = 0) {
  const std::string rest = {bits, colour, 0, 0, interlace};
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", big(width) + big(height) + rest) + extra +
         chunk("IDAT", deflated(rows)) + chunk("IEND", "");
}

Picture parse_made(const std::string& file) { return io::parse_png(test::bytes_of(file), "x.png"); }

std::string png_error(const std::string& file) {
  return test::error_of([&] { parse_made(file); });
}

Picture sample(int width, int height, int channels) {
  Picture picture{width, height, channels, {}};
  for (int i = 0; i < width * height * channels; ++i) {
    picture.pixels.push_back(static_cast<std::uint8_t>(i * 37 % 256));
  }
  return picture;
}

using Pixels = std::vector<std::uint8_t>;

}  // namespace

TEST_CASE("png: grey, RGB and RGBA pictures come back pixel by pixel") {
  const test::ScratchFolder folder;
  for (const int channels : {1, 3, 4}) {
    for (const auto& [width, height] : {std::pair(1, 1), {7, 3}, {300, 200}}) {
      const auto picture = sample(width, height, channels);
      io::write_png(folder / "x.png", picture);
      const auto again = io::read_png(folder / "x.png");
      CHECK(again.width == width);
      CHECK(again.height == height);
      CHECK(again.channels == channels);
      CHECK(again.pixels == picture.pixels);
    }
  }
  CHECK(folder.count() == 1);
}

TEST_CASE("png: Fast and Small give the same pixels") {
  for (const int channels : {1, 3, 4}) {
    const auto picture = sample(61, 33, channels);
    CHECK(parse_made(io::png_bytes(picture, io::PngEffort::Fast)).pixels == picture.pixels);
  }
}

TEST_CASE("png: grey of 16 bits is written with all of them") {
  const auto file = io::png_bytes(io::DeepPicture{1, 1, {0x1234}});
  CHECK(static_cast<int>(file[24]) == 16);  // IHDR's depth
  CHECK(static_cast<int>(file[25]) == kGrey);
  const auto data = file.find("IDAT") + 4;
  std::string row(3, '\0');
  uLongf size = row.size();
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(row.data()), &size,
                     reinterpret_cast<const Bytef*>(file.data() + data),
                     file.size() - data) == Z_OK);
  CHECK(row.substr(1) == "\x12\x34");  // after the filter, which leaves the first pixel alone
  const io::DeepPicture four{2, 2, {0, 0x1234, 0xFF00, 0xFFFF}};
  CHECK(parse_made(io::png_bytes(four)).pixels == Pixels{0, 18, 254, 255});
  CHECK(parse_made(io::png_bytes(four, io::PngEffort::Fast)).pixels == Pixels{0, 18, 254, 255});
  CHECK(test::error_of([] {
          io::png_bytes(io::DeepPicture{2, 2, {1}});
        }).starts_with("internal: [io.png]"));
}

TEST_CASE("png: palettes and few bits are expanded") {
  const auto colours = chunk("PLTE", {10, 20, 30, 40, 50, 60});
  const auto palette = parse_made(png_of(2, 1, 8, kPalette, {0, 1, 0}, colours));
  CHECK(palette.channels == 3);
  CHECK(palette.pixels == Pixels{40, 50, 60, 10, 20, 30});
  const auto clear = parse_made(
      png_of(2, 1, 8, kPalette, {0, 1, 0}, colours + chunk("tRNS", std::string("\x80", 1))));
  CHECK(clear.channels == 4);
  CHECK(clear.pixels == Pixels{40, 50, 60, 255, 10, 20, 30, 128});
  const auto bits = parse_made(png_of(4, 1, 1, kGrey, {0, static_cast<char>(0xA0)}));
  CHECK(bits.channels == 1);
  CHECK(bits.pixels == Pixels{255, 0, 255, 0});
}

TEST_CASE("png: 16 bits become 8, grey with alpha becomes RGBA") {
  const auto deep = parse_made(png_of(2, 1, 16, kGrey, std::string("\0\xFF\xFF\x80\x80", 5)));
  CHECK(deep.channels == 1);
  CHECK(deep.pixels == Pixels{255, 128});
  const auto alpha = parse_made(png_of(1, 1, 8, kGreyAlpha, {0, 9, 77}));
  CHECK(alpha.channels == 4);
  CHECK(alpha.pixels == Pixels{9, 9, 9, 77});
}

TEST_CASE("png: a gamma in the file does not change the pixels") {
  const auto gamma = chunk("gAMA", big(100'000));
  CHECK(parse_made(png_of(1, 1, 8, kRgb, {0, 10, 20, 30}, gamma)).pixels == Pixels{10, 20, 30});
}

TEST_CASE("png: interlaced pictures are put together") {
  // Of 2 x 2 pixels, three of the seven passes have some: first, right of it, second row.
  const std::string passes = {0, 1, 0, 2, 0, 3, 4};
  CHECK(parse_made(png_of(2, 2, 8, kGrey, passes, {}, 1)).pixels == Pixels{1, 2, 3, 4});
}

TEST_CASE("png: what is not a PNG is refused by name") {
  CHECK(test::contains(png_error(""),
                       "input: [io.png] x.png is not a PNG picture; it looks like an"
                       " empty file"));
  CHECK(test::contains(png_error("\xff\xd8\xff\xe0"), "a JPEG picture"));
  CHECK(test::contains(png_error("<html>"), "a web page"));
  CHECK(test::contains(png_error("\x89PN"), "something unknown"));
  const test::ScratchFolder folder;
  CHECK(test::error_of([&] { io::read_png(folder / "none.png"); }).starts_with("input: "));
  CHECK(test::error_of([&] { io::read_png(folder.path()); }).starts_with("input: "));
}

TEST_CASE("png: cut at any length, a picture is refused") {
  const auto whole = io::png_bytes(sample(20, 10, 3));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(png_error(whole.substr(0, length)).starts_with("input: [io.png] x.png"));
  }
  CHECK(png_error(whole) == "no error");
}

TEST_CASE("png: with any byte changed, a picture is read or refused") {
  const auto whole = io::png_bytes(sample(9, 5, 4));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const unsigned change : {1U, 64U, 255U}) {
      auto changed = whole;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ change);
      const auto error = png_error(changed);
      CHECK((error == "no error" || error.starts_with("input: [io.png] x.png")));
    }
  }
}

TEST_CASE("png: sizes beyond the file or the limit are refused before decoding") {
  CHECK(test::contains(png_error(png_of(100'000, 100'000, 8, kRgb, "x")), "too large"));
  CHECK(test::contains(png_error(png_of(16'000, 16'000, 8, kRgb, "x")), "cannot hold"));
  CHECK(png_error(png_of(0, 5, 8, kRgb, "x")).starts_with("input: [io.png]"));
  CHECK(png_error(png_of(0x7FFF'FFFF, 0x7FFF'FFFF, 8, kRgb, "x")).starts_with("input: [io.png]"));
  CHECK(png_error(png_of(2, 2, 7, kRgb, "x")).starts_with("input: [io.png]"));
  CHECK(png_error(png_of(2, 2, 8, kPalette, "x")).starts_with("input: [io.png]"));  // without one
}

TEST_CASE("png: a picture whose pixels do not fit its size is not written") {
  auto picture = sample(4, 4, 3);
  picture.pixels.pop_back();
  CHECK(test::error_of([&] { io::png_bytes(picture); }).starts_with("internal: [io.png]"));
  picture = sample(4, 4, 2);
  CHECK(test::error_of([&] { io::png_bytes(picture); }).starts_with("internal: [io.png]"));
  picture = sample(0, 4, 3);
  CHECK(test::error_of([&] { io::png_bytes(picture); }).starts_with("internal: [io.png]"));
}
