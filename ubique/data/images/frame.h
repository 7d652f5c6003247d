// SPDX-License-Identifier: Apache-2.0
// Fits pictures of any shape into a network's input frame, and maps back, as in MSI-Net's program:
// pictures are scaled and padded, maps enlarged and cropped.
#pragma once

#include "ubique/data/images/image.h"

namespace ubique::data {

/// Position of a scaled picture in a frame.
struct Placement {
  FrameSize size;  ///< of the scaled picture
  int top = 0, left = 0;
};

inline constexpr float kPicturePad = 126, kMapPad = 0;

/// The largest size that fits, sides rounded half to even and at least 1; centred, an odd pixel of
/// padding goes below and to the right.
Placement fit_inside(FrameSize picture, FrameSize frame);
/// The smallest size of a map that covers the picture, and the position of the picture in it.
Placement fit_around(FrameSize map, FrameSize picture);

/// Resized by area if a side shrinks, bicubic otherwise; clipped to 0..255; padded with `pad`.
Image prepare(const io::Picture& picture, FrameSize frame, float pad, int threads = 1);
Image prepare(const Image& image, FrameSize frame, float pad, int threads = 1);

/// A network's map (0..1, one channel) times 255, in the picture's size; not yet rounded.
Image restore(const Image& map, FrameSize picture, int threads = 1);

/// A point of the picture in frame coordinates (pixel centres map to pixel centres).
Fixation to_frame(Fixation point, FrameSize picture, FrameSize frame);

}  // namespace ubique::data
