// SPDX-License-Identifier: Apache-2.0
// Headers, frames and colour conversion of YUV4MPEG2 video.
#include "ubique/io/images/y4m.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/base/scratch.h"
#include "tests/io/samples.h"

namespace ubique::io {
namespace {

ByteSource source_of(std::string text) {
  return [text = std::move(text), place = std::size_t{0}](std::span<std::byte> out) mutable {
    const auto count = std::min(out.size(), text.size() - place);
    std::memcpy(out.data(), text.data() + place, count);
    place += count;
    return count;
  };
}

Y4mReader reader_of(const std::string& text) { return {source_of(text), "it"}; }

std::string refusal(const std::string& text) {
  return test::refusal_of(ErrorKind::Input, [&] {
    auto reader = reader_of(text);
    while (reader.next()) {
    }
  });
}

/// Soft colours: neighbours differ by little, as in videos.
Picture soft_picture(int width, int height) {
  Picture picture{width, height, 3, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (const double turn : {0.0, 2.0, 4.0}) {
        picture.pixels.push_back(static_cast<std::uint8_t>(
            std::lround(128 + 100 * std::sin(0.05 * x + 0.07 * y + turn))));
      }
    }
  }
  return picture;
}

int largest_difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  REQUIRE(a.size() == b.size());
  int largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

constexpr const char* kSmall = "YUV4MPEG2 W2 H2 F30000:1001 Ip A1:1 C420jpeg\n";

}  // namespace

TEST_CASE("y4m: the header's words are read, whatever their order, and written again") {
  const auto header = reader_of(
                          "YUV4MPEG2 H3 XYSCSS=420JPEG W5 F30000:1001 It A4:3 C422 "
                          "XCOLORRANGE=FULL\n")
                          .header();
  CHECK(header.width == 5);
  CHECK(header.height == 3);
  CHECK(header.frames_per_second() == doctest::Approx(29.97).epsilon(1e-4));
  CHECK(header.chroma == Chroma::C422);
  CHECK(header.full_range);
  CHECK(header.frame_bytes() == 15 + 2 * 9);
  const auto text = y4m_header_text(header);
  CHECK(text == "YUV4MPEG2 W5 H3 F30000:1001 It A4:3 C422 XCOLORRANGE=FULL\n");
  CHECK(y4m_header_text(reader_of(text).header()) == text);
  const auto plain = reader_of("YUV4MPEG2 W4 H4\n").header();
  CHECK(plain.chroma == Chroma::C420);
  CHECK(plain.frames_per_second() == 25);
  CHECK_FALSE(plain.full_range);
}

TEST_CASE("y4m: frames come one after the other, with or without words of their own") {
  auto reader = reader_of(std::string(kSmall) + "FRAME\nabcdUVFRAME Ix\nefghWX");
  CHECK(reader.next() == Y4mFrame{'a', 'b', 'c', 'd', 'U', 'V'});
  CHECK(reader.next() == Y4mFrame{'e', 'f', 'g', 'h', 'W', 'X'});
  CHECK_FALSE(reader.next().has_value());
  CHECK(reader.frames() == 2);
  CHECK_FALSE(reader_of(kSmall).next().has_value());
}

TEST_CASE("y4m: every chroma format converts to RGB and back") {
  for (const auto* chroma : {"420jpeg", "420mpeg2", "420paldv", "420", "422", "444"}) {
    for (const auto* range : {"FULL", "LIMITED"}) {
      for (const int width : {31, 1281}) {  // BT.601 and BT.709; odd sides
        CAPTURE(chroma);
        const auto reader =
            reader_of(fmt::format("YUV4MPEG2 W{} H17 C{} XCOLORRANGE={}\n", width, chroma, range));
        const auto& header = reader.header();
        const auto picture = soft_picture(width, 17);
        const auto frame = y4m_frame(header, picture);
        REQUIRE(frame.size() == header.frame_bytes());
        const auto again = y4m_picture(header, frame);
        CHECK(largest_difference(again.pixels, picture.pixels) <= 12);
        // Repeated conversion does not drift.
        CHECK(largest_difference(y4m_frame(header, again), frame) <= 2);
      }
    }
  }
}

TEST_CASE("y4m: the colours are those of the standard") {
  const auto header = reader_of("YUV4MPEG2 W1 H1 C444\n").header();
  CHECK(y4m_frame(header, {1, 1, 3, {255, 255, 255}}) == Y4mFrame{235, 128, 128});
  CHECK(y4m_frame(header, {1, 1, 3, {0, 0, 0}}) == Y4mFrame{16, 128, 128});
  CHECK(y4m_frame(header, {1, 1, 3, {255, 0, 0}}) == Y4mFrame{81, 90, 240});
  CHECK(y4m_frame(header, {1, 1, 3, {0, 0, 255}}) == Y4mFrame{41, 240, 110});
  CHECK(y4m_picture(header, {81, 90, 240}).pixels == std::vector<std::uint8_t>{254, 0, 0});
  CHECK(y4m_picture(header, {0, 128, 128}).pixels == std::vector<std::uint8_t>{0, 0, 0});
  auto hd = reader_of("YUV4MPEG2 W1280 H1 C444\n").header();
  hd.height = 720, hd.width = 1;
  CHECK(y4m_frame(hd, {1, 720, 3, std::vector<std::uint8_t>(2160, 255)})[0] == 235);
  auto red = std::vector<std::uint8_t>(2160, 0);
  red[0] = 255;
  CHECK(y4m_frame(hd, {1, 720, 3, red})[0] == 63);
  const auto grey = reader_of("YUV4MPEG2 W2 H1 Cmono\n").header();
  CHECK(y4m_picture(grey, {16, 235}).pixels == std::vector<std::uint8_t>{0, 0, 0, 255, 255, 255});
}

TEST_CASE("y4m: what is no such video is refused by name") {
  CHECK(test::contains(refusal(""), "it is no YUV4MPEG2 video; it looks like an empty file"));
  CHECK(test::contains(refusal("\x89PNG\r\n\x1a\n......"), "a PNG picture"));
  CHECK(test::contains(refusal("YUV4MPEG2"), "its first line does not end"));
  CHECK(test::contains(refusal("YUV4MPEG2 W4 H4 " + std::string(5000, 'X') + "\n"), "not end"));
  CHECK(test::contains(refusal("YUV4MPEG2 W4 F25:1\n"), "how large its frames are"));
}

TEST_CASE("y4m: parameters that cannot be are refused, each by its word") {
  const auto said = [](const std::string& words) { return refusal("YUV4MPEG2 " + words + "\n"); };
  CHECK(test::contains(said("W0 H4"), "'W0', expected a number of pixels"));
  CHECK(test::contains(said("W-3 H4"), "'W-3'"));
  CHECK(test::contains(said("W99999999999 H4"), "'W99999999999'"));
  CHECK(test::contains(said("W100000 H100000"), "expected at most 67108864"));
  CHECK(test::contains(said("W4 H4 F0:0"), "'F0:0', expected frames per second"));
  CHECK(test::contains(said("W4 H4 F25:x"), "'F25:x'"));
  CHECK(test::contains(said("W4 H4 Iz"), "'Iz'"));
  CHECK(test::contains(said("W4 H4 A1"), "'A1'"));
  for (const auto* chroma : {"C420p10", "C444alpha", "C411", "Cmono16", "C"}) {
    CHECK(test::contains(said(std::string("W4 H4 ") + chroma), "-pix_fmt yuv420p"));
  }
}

TEST_CASE("y4m: cut at any length, a video ends or is refused") {
  const auto whole = std::string(kSmall) + "FRAME\nabcdUVFRAME\nefghWX";
  const auto head = std::strlen(kSmall);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    if (length == head || length == head + 12) continue;  // between frames it may end
    CHECK(refusal(whole.substr(0, length)).starts_with("[io.y4m] it is"));
  }
  CHECK(test::contains(refusal(std::string(kSmall) + "FRAME\nabcdUVfram"), "after 1 frames"));
}

TEST_CASE("y4m: a header that claims large frames allocates nothing before the bytes arrive") {
  CHECK(test::contains(refusal("YUV4MPEG2 W8192 H8192 C444\nFRAME\nabc"), "cut short in frame 1"));
}

}  // namespace ubique::io
