// SPDX-License-Identifier: Apache-2.0
// Placement, scaling and padding of pictures in a frame.
#include "ubique/data/images/frame.h"

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/data/images/resize.h"

namespace ubique::data {
namespace {

FrameSize scaled(FrameSize size, double ratio) {
  const auto side = [&](int length) {
    return std::max(1, static_cast<int>(std::nearbyint(length * ratio)));
  };
  return {side(size.height), side(size.width)};
}

void check_sides(FrameSize a, FrameSize b) {
  check(a.height > 0 && a.width > 0 && b.height > 0 && b.width > 0, ErrorKind::Internal,
        "[data.frame] cannot place {} x {} in {} x {}; expected sides of 1 and more.", a.height,
        a.width, b.height, b.width);
}

ResizeMethod method_for(FrameSize from, FrameSize to) {
  const bool shrinks = to.height < from.height || to.width < from.width;
  return shrinks ? ResizeMethod::Area : ResizeMethod::Bicubic;
}

template <typename Source>
Image prepared(const Source& source, FrameSize frame, float pad, int threads) {
  const FrameSize from{source.height, source.width};
  const auto placement = fit_inside(from, frame);
  const auto small = resize(source, placement.size, method_for(from, placement.size), threads);
  Image out{frame.height, frame.width, source.channels, {}};
  out.values.assign(out.size(), pad);
  const auto left = static_cast<std::size_t>(placement.left * out.channels);
  for (int y = 0; y < placement.size.height; ++y) {
    const auto* row = small.values.data() + static_cast<std::size_t>(y) * small.row();
    auto* to = out.values.data() + static_cast<std::size_t>(y + placement.top) * out.row() + left;
    std::transform(row, row + small.row(), to,
                   [](float value) { return std::clamp(value, 0.0F, 255.0F); });
  }
  return out;
}

}  // namespace

Placement fit_inside(FrameSize picture, FrameSize frame) {
  check_sides(picture, frame);
  const double ratio = std::min(static_cast<double>(frame.height) / picture.height,
                                static_cast<double>(frame.width) / picture.width);
  auto size = scaled(picture, ratio);
  size = {std::min(size.height, frame.height), std::min(size.width, frame.width)};
  return {size, (frame.height - size.height) / 2, (frame.width - size.width) / 2};
}

Placement fit_around(FrameSize map, FrameSize picture) {
  check_sides(map, picture);
  const double ratio = std::max(static_cast<double>(picture.height) / map.height,
                                static_cast<double>(picture.width) / map.width);
  auto size = scaled(map, ratio);
  size = {std::max(size.height, picture.height), std::max(size.width, picture.width)};
  return {size, (size.height - picture.height) / 2, (size.width - picture.width) / 2};
}

Image prepare(const io::Picture& picture, FrameSize frame, float pad, int threads) {
  return prepared(picture, frame, pad, threads);
}

Image prepare(const Image& image, FrameSize frame, float pad, int threads) {
  return prepared(image, frame, pad, threads);
}

Image restore(const Image& map, FrameSize picture, int threads) {
  check(map.channels == 1, ErrorKind::Internal, "[data.frame] a map has {} channels; expected one.",
        map.channels);
  const FrameSize from{map.height, map.width};
  const auto placement = fit_around(from, picture);
  auto out = resize_part(map, placement.size, {placement.top, placement.left, picture},
                         method_for(from, placement.size), threads);
  for (auto& value : out.values) value *= 255;
  return out;
}

Fixation to_frame(Fixation point, FrameSize picture, FrameSize frame) {
  const auto placement = fit_inside(picture, frame);
  const double across = static_cast<double>(placement.size.width) / picture.width;
  const double down = static_cast<double>(placement.size.height) / picture.height;
  return {(point.x + 0.5) * across - 0.5 + placement.left,
          (point.y + 0.5) * down - 0.5 + placement.top};
}

}  // namespace ubique::data
