// SPDX-License-Identifier: Apache-2.0
// Image resizing as in TensorFlow 1, which saliency networks were trained with, and standard
// bilinear. All methods are separable weighted sums of a few rows and columns.
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

/// The values do not depend on the number of threads. Internal error for an empty image or size.
Image resize(const Image& image, FrameSize size, ResizeMethod method, int threads = 1);
Image resize(const io::Picture& picture, FrameSize size, ResizeMethod method, int threads = 1);

/// Only a part of what resize() gives, without memory for the rest.
Image resize_part(const Image& image, FrameSize size, const ResizeWindow& part, ResizeMethod method,
                  int threads = 1);

}  // namespace ubique::data
