// SPDX-License-Identifier: Apache-2.0
// Pictures of any shape brought into a network's frame, and its maps brought back, as MSI-Net's
// program does: scaled to fit, padded around; enlarged to cover, cropped.
#pragma once

#include <functional>

#include "ubique/data/images/image.h"

namespace ubique::data {

/// Where a picture lies in a frame.
struct Placement {
  FrameSize size;  ///< of the scaled picture
  int top = 0, left = 0;
};

inline constexpr float kPicturePad = 126, kMapPad = 0;

/// The largest size that fits, sides rounded half to even and never 0; centred, with the odd pixel
/// below and to the right.
Placement fit_inside(FrameSize picture, FrameSize frame);
/// The smallest size of a map that covers the picture, and where the picture lies in it.
Placement fit_around(FrameSize map, FrameSize picture);

/// Area when a side shrinks, bicubic otherwise; clipped to 0..255; `pad` around it.
Image prepare(const io::Picture& picture, FrameSize frame, float pad, int threads = 1);
Image prepare(const Image& image, FrameSize frame, float pad, int threads = 1);

/// A network's map (0..1, one channel) times 255 at a picture's size. to_picture() rounds it.
Image restore(const Image& map, FrameSize picture, int threads = 1);

/// A place of the picture in the frame, as the pixels' centres go.
Fixation placed(Fixation point, FrameSize picture, FrameSize frame);

}  // namespace ubique::data
