// SPDX-License-Identifier: Apache-2.0
// What the page that shows where people look must know of a network, and a picture on which it can
// hold its own steps against ours.
#pragma once

#include <map>
#include <string>

#include "ubique/models/msinet/net/model.h"

namespace ubique::msinet {

/// ubique.json; picture.png; and picture.bin, what we make of that picture: brought into a frame,
/// the frame's map, the map at the picture's size. (3, h, w), (h, w), (H, W), f32, little-endian.
std::map<std::string, std::string> web_companions(MsiNetModel& model);

}  // namespace ubique::msinet
