// SPDX-License-Identifier: Apache-2.0
// The files of one picture, as bytes: its map in the format asked for, and its overlay.
#pragma once

#include <string>

#include "ubique/data/images/image.h"
#include "ubique/models/msinet/use/run_settings.h"

namespace ubique::msinet {

struct PictureFiles {
  std::string map;
  std::string overlay;  ///< empty where none is wanted
};

/// `map` counts 0 to 255. PNG and JPEG have it rounded, png16 as 0 to 65,535, .npy as f32 from 0
/// to 1.
std::string map_file_bytes(const data::Image& map, MapFormat format);
PictureFiles encode_files(const io::Picture& picture, const data::Image& map,
                          const MeasuredMap<float>& measured, const RunSettings& settings);

}  // namespace ubique::msinet
