// SPDX-License-Identifier: Apache-2.0
// Each pixel takes the largest value that falls into it, so that short sounds stay visible.
#include "ubique/data/audio/pictures.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/data/audio/resample.h"

namespace ubique::data {
namespace {

using Colour = std::array<double, 3>;

constexpr double kRange = 80;  // decibels
constexpr Colour kPaper = {18, 20, 28}, kInk = {110, 190, 230};

/// Ever lighter, so that it also reads in grey.
Colour heat(double value) {
  constexpr std::array<Colour, 6> kStops = {
      {{0, 0, 8}, {50, 10, 94}, {135, 32, 107}, {214, 69, 66}, {250, 154, 36}, {252, 252, 190}}};
  const double place = std::clamp(value, 0.0, 1.0) * (kStops.size() - 1);
  const auto low = std::min<std::size_t>(static_cast<std::size_t>(place), kStops.size() - 2);
  const double part = place - static_cast<double>(low);
  Colour mixed{};
  for (std::size_t c = 0; c < 3; ++c) {
    mixed[c] = kStops[low][c] + part * (kStops[low + 1][c] - kStops[low][c]);
  }
  return mixed;
}

void put_pixel(io::Picture& picture, int x, int y, const Colour& colour) {
  const auto at = 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
                       static_cast<std::size_t>(x));
  for (std::size_t c = 0; c < 3; ++c) {
    picture.pixels[at + c] = static_cast<std::uint8_t>(std::lround(colour[c]));
  }
}

io::Picture plain_picture(int width, int height, const Colour& colour) {
  check(width > 0 && height > 0 && width <= 16'384 && height <= 16'384, ErrorKind::Input,
        "[data.audio] a picture of a sound cannot have this size; got {} x {}.", width, height);
  io::Picture picture{width, height, 3, {}};
  picture.pixels.resize(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) put_pixel(picture, x, y, colour);
  }
  return picture;
}

/// The part of `count` things that falls to place `index` of `places`; never empty.
std::pair<std::int64_t, std::int64_t> share(std::int64_t count, int index, int places) {
  const auto begin = count * index / places;
  return {begin, std::max(begin + 1, count * (index + 1) / places)};
}

}  // namespace

io::Picture draw_wave(const io::Audio& audio, int width, int height) {
  auto picture = plain_picture(width, height, kPaper);
  if (audio.frames() == 0) return picture;
  const int lane = std::max(1, height / audio.channels);
  for (int c = 0; c < audio.channels; ++c) {
    const auto channel = audio.channel(c);
    for (int x = 0; x < width; ++x) {
      const auto [begin, end] = share(audio.frames(), x, width);
      const auto [least, most] =
          std::minmax_element(channel.begin() + begin, channel.begin() + end);
      const auto row = [&](float value) {
        const double place = (1 - std::clamp(static_cast<double>(value), -1.0, 1.0)) / 2;
        return std::min(height - 1, c * lane + static_cast<int>(std::lround(place * (lane - 1))));
      };
      for (int y = row(*most); y <= row(*least); ++y) put_pixel(picture, x, y, kInk);
    }
  }
  return picture;
}

io::Picture draw_spectrogram(const Spectrogram& log_mel, int width, int height) {
  auto picture = plain_picture(width, height, heat(0));
  if (log_mel.values.empty()) return picture;
  const double loudest = *std::max_element(log_mel.values.begin(), log_mel.values.end());
  const double per_decibel = std::log(10.0) / 20;
  for (int y = 0; y < height; ++y) {
    const auto [low, high] = share(log_mel.rows, height - 1 - y, height);
    for (int x = 0; x < width; ++x) {
      const auto [begin, end] = share(log_mel.frames, x, width);
      float value = -1e30F;
      for (auto row = low; row < high; ++row) {
        for (auto t = begin; t < end; ++t) {
          value =
              std::max(value, log_mel.values[static_cast<std::size_t>(row * log_mel.frames + t)]);
        }
      }
      put_pixel(picture, x, y, heat(1 + (value - loudest) / per_decibel / kRange));
    }
  }
  return picture;
}

io::Picture draw_spectrogram(const io::Audio& audio, int width, int height) {
  MelSpectrogram mel;
  const auto wave = as_mono(resampled(audio, mel.config().rate));
  if (wave.frames() < mel.config().window) return draw_spectrogram(Spectrogram{}, width, height);
  return draw_spectrogram(mel.log_mel(wave.samples), width, height);
}

}  // namespace ubique::data
