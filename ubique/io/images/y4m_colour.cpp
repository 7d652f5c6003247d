// SPDX-License-Identifier: Apache-2.0
// YCbCr to RGB and back in fixed point with 16 fractional bits. Subsampled chroma is repeated on
// decoding and averaged on encoding, so that an unchanged frame survives up to rounding.
#include <algorithm>
#include <array>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/io/images/y4m.h"

namespace ubique::io {
namespace {

constexpr int kColourBits = 16;
constexpr int kColourHalf = 1 << (kColourBits - 1);

int fixed_point(double value) { return static_cast<int>(std::lround(value * (1 << kColourBits))); }

std::uint8_t to_byte(int fixed) {
  return static_cast<std::uint8_t>(std::clamp((fixed + kColourHalf) >> kColourBits, 0, 255));
}

/// Luma coefficients of red and blue (Kr, Kb), and the ranges of luma and chroma.
struct ColourRule {
  explicit ColourRule(const Y4mHeader& header)
      : kr(header.width >= 1280 || header.height >= 720 ? 0.2126 : 0.299),
        kb(header.width >= 1280 || header.height >= 720 ? 0.0722 : 0.114),
        black(header.full_range ? 0 : 16),
        luma(header.full_range ? 1 : 219.0 / 255),
        chroma(header.full_range ? 1 : 224.0 / 255) {}

  double kr, kb;
  int black;
  double luma, chroma;
};

/// Offsets of the planes, and how many pixels share a chroma sample.
struct PlaneLayout {
  explicit PlaneLayout(const Y4mHeader& header)
      : width(static_cast<std::size_t>(header.width)),
        height(static_cast<std::size_t>(header.height)),
        across(header.chroma == Chroma::C444 ? 1 : 2),
        down(header.chroma == Chroma::C420 ? 2 : 1),
        columns((width + across - 1) / across),
        blue(width * height),
        red(blue + columns * ((height + down - 1) / down)),
        coloured(header.chroma != Chroma::Mono) {}

  std::size_t width, height;
  std::size_t across, down;
  std::size_t columns;    // chroma samples per row
  std::size_t blue, red;  // offsets of the Cb and Cr planes
  bool coloured;
};

/// Frame to RGB.
struct ToRgb {
  explicit ToRgb(const ColourRule& rule)
      : black(rule.black),
        light(fixed_point(1 / rule.luma)),
        red(fixed_point(2 * (1 - rule.kr) / rule.chroma)),
        blue(fixed_point(2 * (1 - rule.kb) / rule.chroma)) {
    const double green = 1 - rule.kr - rule.kb;
    green_blue = fixed_point(2 * (1 - rule.kb) * rule.kb / green / rule.chroma);
    green_red = fixed_point(2 * (1 - rule.kr) * rule.kr / green / rule.chroma);
  }

  /// What a chroma sample adds to red, green and blue.
  std::array<int, 3> tint(int b, int r) const {
    return {red * r, -green_blue * b - green_red * r, blue * b};
  }
  void put(std::uint8_t* rgb, int y, const std::array<int, 3>& tint) const {
    const int base = (y - black) * light;
    for (std::size_t c = 0; c < 3; ++c) rgb[c] = to_byte(base + tint[c]);
  }

  int black, light, red, blue, green_blue = 0, green_red = 0;
};

template <std::size_t kAcross>
void row_to_rgb(const ToRgb& rule, const std::uint8_t* light, const std::uint8_t* blue,
                const std::uint8_t* red, std::size_t width, std::uint8_t* rgb) {
  for (std::size_t begin = 0; begin < width; begin += kAcross, ++blue, ++red) {
    const auto tint = rule.tint(*blue - 128, *red - 128);
    const auto end = std::min(begin + kAcross, width);
    for (auto x = begin; x < end; ++x, rgb += 3) rule.put(rgb, light[x], tint);
  }
}

/// RGB to frame: one matrix row per plane, columns red, green, blue.
struct FromRgb {
  explicit FromRgb(const ColourRule& rule) : black(rule.black) {
    const std::array<double, 3> shares = {rule.kr, 1 - rule.kr - rule.kb, rule.kb};
    for (std::size_t c = 0; c < 3; ++c) {
      light[c] = fixed_point(shares[c] * rule.luma);
      blue[c] = fixed_point(((c == 2 ? 1 : 0) - shares[c]) / (2 * (1 - rule.kb)) * rule.chroma);
      red[c] = fixed_point(((c == 0 ? 1 : 0) - shares[c]) / (2 * (1 - rule.kr)) * rule.chroma);
    }
  }

  static std::uint8_t mixed(const std::array<int, 3>& row, const std::array<int, 3>& rgb) {
    constexpr int kMiddle = 128 << kColourBits;
    return to_byte(kMiddle + row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]);
  }

  int black;
  std::array<int, 3> light{}, blue{}, red{};
};

void put_brightness(const FromRgb& rule, const std::uint8_t* rgb, std::size_t count,
                    std::uint8_t* out) {
  const int black = rule.black << kColourBits;
  for (std::size_t i = 0; i < count; ++i, rgb += 3) {
    out[i] =
        to_byte(black + rule.light[0] * rgb[0] + rule.light[1] * rgb[1] + rule.light[2] * rgb[2]);
  }
}

/// Mean of the `rows` x `columns` pixels that share a chroma sample.
std::array<int, 3> mean_colour(const std::uint8_t* rgb, std::size_t stride, std::size_t rows,
                               std::size_t columns) {
  std::array<int, 3> sum{};
  for (std::size_t y = 0; y < rows; ++y) {
    for (std::size_t x = 0; x < columns; ++x) {
      for (std::size_t c = 0; c < 3; ++c) sum[c] += rgb[y * stride + 3 * x + c];
    }
  }
  const auto count = static_cast<int>(rows * columns);
  for (auto& value : sum) value = (value + count / 2) / count;
  return sum;
}

/// One row of chroma samples from `rows` rows of pixels.
template <std::size_t kAcross>
void put_colours(const FromRgb& rule, const std::uint8_t* rgb, std::size_t width, std::size_t rows,
                 std::uint8_t* blue, std::uint8_t* red) {
  const auto put = [&](std::size_t column, std::size_t columns) {
    const auto* from = rgb + 3 * kAcross * column;
    const auto colour = rows == 2 && columns == 2 ? mean_colour(from, 3 * width, 2, 2)
                                                  : mean_colour(from, 3 * width, rows, columns);
    blue[column] = FromRgb::mixed(rule.blue, colour);
    red[column] = FromRgb::mixed(rule.red, colour);
  };
  const auto whole = width / kAcross;
  for (std::size_t column = 0; column < whole; ++column) put(column, kAcross);
  if (whole * kAcross < width) put(whole, width - whole * kAcross);
}

}  // namespace

Picture y4m_picture(const Y4mHeader& header, const Y4mFrame& frame) {
  check(frame.size() == header.frame_bytes(), ErrorKind::Internal,
        "[io.y4m] a frame has {} bytes; expected {}.", frame.size(), header.frame_bytes());
  Picture picture{header.width, header.height, 3, {}};
  const PlaneLayout layout(header);
  const ToRgb rule{ColourRule(header)};
  picture.pixels.resize(3 * layout.width * layout.height);
  const std::vector<std::uint8_t> grey(layout.coloured ? 0 : layout.columns, 128);
  for (std::size_t y = 0; y < layout.height; ++y) {
    const auto colours = y / layout.down * layout.columns;
    const auto* blue = layout.coloured ? frame.data() + layout.blue + colours : grey.data();
    const auto* red = layout.coloured ? frame.data() + layout.red + colours : grey.data();
    const auto* light = frame.data() + y * layout.width;
    auto* rgb = picture.pixels.data() + 3 * y * layout.width;
    if (layout.across == 1) {
      row_to_rgb<1>(rule, light, blue, red, layout.width, rgb);
    } else {
      row_to_rgb<2>(rule, light, blue, red, layout.width, rgb);
    }
  }
  return picture;
}

Y4mFrame y4m_frame(const Y4mHeader& header, const Picture& picture) {
  check(picture.width == header.width && picture.height == header.height && picture.channels == 3,
        ErrorKind::Internal, "[io.y4m] a picture of {} x {} x {} is no frame of {} x {}.",
        picture.width, picture.height, picture.channels, header.width, header.height);
  const PlaneLayout layout(header);
  const FromRgb rule{ColourRule(header)};
  Y4mFrame frame(header.frame_bytes());
  put_brightness(rule, picture.pixels.data(), layout.width * layout.height, frame.data());
  if (!layout.coloured) return frame;
  for (std::size_t y = 0; y * layout.down < layout.height; ++y) {
    const auto first = y * layout.down;
    const auto rows = std::min(layout.down, layout.height - first);
    const auto* rgb = picture.pixels.data() + 3 * first * layout.width;
    auto* blue = frame.data() + layout.blue + y * layout.columns;
    auto* red = frame.data() + layout.red + y * layout.columns;
    if (layout.across == 1) {
      put_colours<1>(rule, rgb, layout.width, rows, blue, red);
    } else {
      put_colours<2>(rule, rgb, layout.width, rows, blue, red);
    }
  }
  return frame;
}

}  // namespace ubique::io
