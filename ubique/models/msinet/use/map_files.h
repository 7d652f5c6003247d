// SPDX-License-Identifier: Apache-2.0
// The output files of one picture, as bytes: its map in the chosen format, and its overlay.
#pragma once

#include <string>

#include "ubique/data/images/image.h"
#include "ubique/models/msinet/use/run_settings.h"

namespace ubique::msinet {

struct PictureFiles {
  std::string map;
  std::string overlay;  ///< empty without --overlay
};

/// `map` ranges from 0 to 255. PNG and JPEG round it, png16 scales it to 0..65,535, .npy to f32 in
/// 0..1.
std::string map_file_bytes(const data::Image& map, MapFormat format);
PictureFiles encode_files(const io::Picture& picture, const data::Image& map,
                          const MeasuredMap<float>& measured, const RunSettings& settings);

}  // namespace ubique::msinet
