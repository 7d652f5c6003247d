// SPDX-License-Identifier: Apache-2.0
// The manifest, the sample picture and its expected values.
#include "ubique/models/msinet/files/sidecar_files.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "ubique/base/numbers/random.h"
#include "ubique/data/images/frame.h"
#include "ubique/io/images/png.h"
#include "ubique/models/msinet/data/dataset.h"

namespace ubique::msinet {
namespace {

constexpr const char* kPagePicture = "picture.png";
constexpr const char* kPageValues = "picture.bin";

/// Input sizes that the page offers: those of the original's demo, for slow and fast machines, and
/// the network's own.
std::vector<std::array<std::int64_t, 2>> page_sizes(const MsiNetConfig& config) {
  std::vector<std::array<std::int64_t, 2>> sizes = {
      {48, 64}, {72, 96}, {120, 160}, {168, 224}, {240, 320}};
  const auto divides = [&](const auto& size) {
    return size[0] % config.reduction() == 0 && size[1] % config.reduction() == 0;
  };
  std::erase_if(sizes, [&](const auto& size) { return !divides(size); });
  if (std::find(sizes.begin(), sizes.end(), config.size) == sizes.end()) {
    sizes.push_back(config.size);
  }
  std::sort(sizes.begin(), sizes.end(),
            [](const auto& a, const auto& b) { return a[0] * a[1] < b[0] * b[1]; });
  return sizes;
}

/// Waves of colour, a bright disc, some noise; its aspect ratio differs from every input size.
io::Picture page_picture() {
  io::Picture picture{150, 133, 3, {}};
  const Random random(31);
  std::uint64_t drawn = 0;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const bool disc = std::hypot(x - 97, y - 45) < 17;
      for (int c = 0; c < 3; ++c) {
        const double wave = 110 + 70 * std::sin(0.05 * (c + 1) * x + 0.04 * (3 - c) * y);
        const double value = disc && c == 0 ? 235 : wave;
        picture.pixels.push_back(
            static_cast<std::uint8_t>(std::lround(value + 20 * (random.uniform(drawn++) - 0.5))));
      }
    }
  }
  return picture;
}

void append_floats(std::string& bytes, const float* values, std::size_t count) {
  bytes.append(reinterpret_cast<const char*>(values), count * sizeof(float));
}

/// The picture in the frame, the frame's map and the map at the picture's size.
std::string page_values(MsiNetModel& model, const io::Picture& picture, data::FrameSize frame) {
  const auto pad = static_cast<float>(model.settings().preprocessing.pad);
  const auto image = tensor_of(data::prepare(picture, frame, pad)).contiguous();  // (3, h, w)
  const at::NoGradGuard no_gradients;
  const auto maps = model.msinet().forward(image.unsqueeze(0).to(model.device()));  // (1, 1, h, w)
  const auto map = maps[0][0].to(at::kCPU, at::kFloat).contiguous();
  const auto whole = data::restore(image_of(map), {picture.height, picture.width});
  std::string bytes;
  append_floats(bytes, image.const_data_ptr<float>(), static_cast<std::size_t>(image.numel()));
  append_floats(bytes, map.const_data_ptr<float>(), static_cast<std::size_t>(map.numel()));
  append_floats(bytes, whole.values.data(), whole.values.size());
  return bytes;
}

}  // namespace

std::map<std::string, std::string> web_sidecar_files(MsiNetModel& model) {
  const auto& config = model.settings();
  const auto sizes = page_sizes(config);
  const auto picture = page_picture();
  const data::FrameSize frame{static_cast<int>(sizes[0][0]), static_cast<int>(sizes[0][1])};
  const Json json = {{"format", "ubique.web-model"},
                     {"version", 1},
                     {"family", "msinet"},
                     {"name", config.name()},
                     {"parameters", parameter_count(config)},
                     {"dataset", config.dataset},
                     {"size", config.size},
                     {"sizes", sizes},
                     {"pad", config.preprocessing.pad},
                     {"picture",
                      {{"file", kPagePicture},
                       {"values", kPageValues},
                       {"size", {picture.height, picture.width}},
                       {"frame", sizes[0]}}}};
  return {{"ubique.json", json.dump(1)},
          {kPagePicture, io::png_bytes(picture)},
          {kPageValues, page_values(model, picture, frame)}};
}

}  // namespace ubique::msinet
