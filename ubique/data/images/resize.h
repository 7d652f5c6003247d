// SPDX-License-Identifier: Apache-2.0
// Resizing as TensorFlow 1 does it, which saliency networks were trained with, and the plain
// bilinear kind. All are sums over a few rows and columns, so one loop serves them.
#pragma once

#include "ubique/data/images/image.h"

namespace ubique::data {

enum class ResizeMethod {
  Area,      ///< TF1 resize_area, align_corners: cells of (in - 1) / (out - 1) pixels
  Bicubic,   ///< TF1 resize_bicubic, align_corners: Keys' -0.75, fractions in steps of 1/1024
  Bilinear,  ///< half-pixel centres, no smoothing when shrinking: TF2, PyTorch, OpenCV
};

/// A part of a resized image.
struct ResizeWindow {
  int top = 0, left = 0;
  FrameSize size;
};

/// Rows are shared out over `threads`; the values do not depend on their number. Internal error for
/// an empty image or size.
Image resize(const Image& image, FrameSize size, ResizeMethod method, int threads = 1);
Image resize(const io::Picture& picture, FrameSize size, ResizeMethod method, int threads = 1);

/// Only that part of what resize() gives: the rest takes no memory.
Image resize_part(const Image& image, FrameSize size, const ResizeWindow& part, ResizeMethod method,
                  int threads = 1);

}  // namespace ubique::data
