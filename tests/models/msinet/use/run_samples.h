// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of run: a small network, pictures and videos in a scratch folder.
#pragma once

#include <cmath>
#include <fstream>

#include "tests/base/scratch.h"
#include "tests/models/msinet/net/network_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/io/images/image.h"
#include "ubique/io/images/y4m.h"
#include "ubique/models/msinet/use/run_video.h"

namespace ubique::test {

inline msinet::MsiNetConfig run_config() {
  auto config = tiny_config();
  config.size = {32, 40};
  return config;
}

/// A bright spot on soft colours; `number` moves it.
inline io::Picture spot_picture(int width, int height, int number) {
  io::Picture picture{width, height, 3, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double spot =
          std::exp(-0.02 * (std::pow(x - 5.0 - 3 * number, 2) + std::pow(y - 7.0 - 2 * number, 2)));
      for (const double turn : {0.0, 1.0, 2.0}) {
        const double value = 110 + 40 * std::sin(0.1 * x + 0.13 * y + turn) + 90 * spot;
        picture.pixels.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)));
      }
    }
  }
  return picture;
}

inline std::string video_text(int width, int height, int frames,
                              const std::string& words = "F10:1 C420jpeg") {
  auto text = fmt::format("YUV4MPEG2 W{} H{} {}\n", width, height, words);
  io::Y4mHeader header;
  header.width = width;
  header.height = height;
  for (int i = 0; i < frames; ++i) {
    const auto frame = io::y4m_frame(header, spot_picture(width, height, i));
    text += io::kY4mFrameMark;
    text.append(frame.begin(), frame.end());
  }
  return text;
}

inline io::Y4mReader video_reader(const std::string& text) {
  return {[text, offset = std::size_t{0}](std::span<std::byte> out) mutable {
            const auto count = std::min(out.size(), text.size() - offset);
            std::memcpy(out.data(), text.data() + offset, count);
            offset += count;
            return count;
          },
          "it"};
}

struct RunFixture {
  RunFixture() : network(golden_network(run_config())), predictor(*network) {
    settings.output = folder / "out";
    settings.progress = ProgressStyle::Silent;
  }

  msinet::PicturesDone pictures(const std::vector<std::string>& inputs,
                                const msinet::RunPace& pace = {}) {
    const auto jobs = msinet::list_run_jobs(inputs, settings);
    return msinet::run_pictures(predictor, jobs.pictures, settings, pace);
  }
  msinet::VideoDone video(const std::string& input, const msinet::RunPace& pace = {}) {
    const auto jobs = msinet::list_run_jobs({input}, settings);
    return msinet::run_video(predictor, jobs.videos.at(0), settings, pace);
  }
  std::string path(const std::string& name) const { return (folder / name).string(); }
  /// Relative paths of all files below a folder, sorted.
  std::vector<std::string> names(const std::string& below) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / below)) {
      if (!entry.is_directory()) {
        found.push_back(entry.path().lexically_relative(folder / below).string());
      }
    }
    std::ranges::sort(found);
    return found;
  }

  ScratchFolder folder;
  std::shared_ptr<msinet::MsiNet> network;
  msinet::Predictor predictor;
  msinet::RunSettings settings;
};

}  // namespace ubique::test
