// SPDX-License-Identifier: Apache-2.0
// Encoding of maps and overlays.
#include "ubique/models/msinet/use/map_files.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ubique/io/arrays/npz.h"
#include "ubique/io/images/image.h"

namespace ubique::msinet {
namespace {

io::DeepPicture deep_picture(const data::Image& map) {
  io::DeepPicture picture{map.width, map.height, {}};
  picture.pixels.resize(map.values.size());
  std::ranges::transform(map.values, picture.pixels.begin(), [](float value) {
    return static_cast<std::uint16_t>(std::lround(std::clamp(value, 0.0F, 255.0F) * 257));
  });
  return picture;
}

io::HostTensor map_tensor(const data::Image& map) {
  io::HostTensor tensor{"saliency", DType::F32, {map.height, map.width}, {}};
  std::vector<float> values(map.values.size());
  std::ranges::transform(map.values, values.begin(), [](float value) { return value / 255; });
  tensor.bytes.resize(values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

}  // namespace

std::string map_file_bytes(const data::Image& map, MapFormat format) {
  switch (format) {
    case MapFormat::Png16:
      return io::png_bytes(deep_picture(map), io::PngEffort::Fast);
    case MapFormat::Npy:
      return io::npy_bytes(map_tensor(map));
    case MapFormat::Jpeg:
      return io::jpeg_bytes(data::to_picture(map));
    case MapFormat::Png:
      break;
  }
  return io::png_bytes(data::to_picture(map), io::PngEffort::Fast);
}

PictureFiles encode_files(const io::Picture& picture, const data::Image& map,
                          const MeasuredMap<float>& measured, const RunSettings& settings) {
  PictureFiles files;
  files.map = map_file_bytes(map, settings.format);
  if (!settings.overlay) return files;
  const auto overlay = draw_heatmap(picture, measured, settings.style);
  files.overlay = settings.format == MapFormat::Jpeg ? io::jpeg_bytes(overlay)
                                                     : io::png_bytes(overlay, io::PngEffort::Fast);
  return files;
}

}  // namespace ubique::msinet
