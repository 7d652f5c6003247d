// SPDX-License-Identifier: Apache-2.0
// How a camera was held: read from the EXIF part of a JPEG, undone on pixels.
#pragma once

#include <cstddef>
#include <span>

#include "ubique/io/png.h"

namespace ubique::io {

/// The EXIF orientation, 1 to 8, of an APP1 segment's content. 1, upright, where there is none or
/// it cannot be read: a damaged note must not cost the picture.
int exif_orientation(std::span<const std::byte> segment);

/// Whether width and height change places.
bool lies_on_its_side(int orientation);

/// The picture as people see it.
Picture turned_upright(Picture picture, int orientation);

}  // namespace ubique::io
