// SPDX-License-Identifier: Apache-2.0
// Files beside an exported network for the web page that shows saliency maps: a manifest, and a
// sample picture with expected values, on which the page checks its own computation.
#pragma once

#include <map>
#include <string>

#include "ubique/models/msinet/net/model.h"

namespace ubique::msinet {

/// ubique.json; picture.png; and picture.bin with our results for that picture: the resized input
/// (3, h, w), its map (h, w), and the map at the picture's size (H, W); f32, little-endian.
std::map<std::string, std::string> web_sidecar_files(MsiNetModel& model);

}  // namespace ubique::msinet
