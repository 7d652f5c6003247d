// SPDX-License-Identifier: Apache-2.0
// Dispatches to the conform methods; checks the target, and that mask and image match.
#include "ubique/data/scans/conform/conform.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "ubique/base/error.h"
#include "ubique/base/text/names.h"
#include "ubique/data/scans/conform/methods.h"
#include "ubique/data/scans/volume/orientation.h"

namespace ubique::data {
namespace {

constexpr std::int64_t kMostVoxels = std::int64_t{1} << 33U;
constexpr double kSpacingTolerance = 0.01;  // masks are often written with rounded headers

constexpr NameTable<ConformMethod, 4> kMethods{{{ConformMethod::ScipyZoom, "scipy_zoom"},
                                                {ConformMethod::NibabelConform, "nibabel_conform"},
                                                {ConformMethod::Brainchop, "brainchop"},
                                                {ConformMethod::None, "none"}}};

TargetGrid grid_of(const ConformTarget& target) {
  double voxels = 1;
  for (const auto length : target.shape) {
    check(length >= 1, ErrorKind::Usage,
          "[data.conform] a target without voxels; got a length of {}, expected at least 1.",
          length);
    voxels *= static_cast<double>(length);
  }
  check(voxels <= static_cast<double>(kMostVoxels), ErrorKind::Usage,
        "[data.conform] the target is too large; got {} voxels, expected at most {}.", voxels,
        kMostVoxels);
  for (const double length : target.spacing) {
    check(std::isnormal(length) && length > 0, ErrorKind::Usage,
          "[data.conform] impossible spacing of the target; got {} mm, expected more than 0.",
          length);
  }
  return {target.shape, target.spacing};
}

LabelMap binary(const Scan& mask) {
  LabelMap labels{mask.volume.shape, mask.volume.affine, {}};
  labels.values.reserve(mask.volume.values.size());
  for (const float value : mask.volume.values) labels.values.push_back(value > 0 ? 1 : 0);
  return labels;
}

std::string text_of(const Shape3& shape, const std::array<double, 3>& spacing) {
  return fmt::format("{} x {} x {} voxels of {:.3g} x {:.3g} x {:.3g} mm", shape[0], shape[1],
                     shape[2], spacing[0], spacing[1], spacing[2]);
}

struct PlainGrid {
  Shape3 shape;
  std::array<double, 3> spacing;
};

PlainGrid canonical_grid(const Volume& volume) {
  const auto moves = moves_to(volume.affine, "RAS");
  return {moved_shape(volume.shape, moves),
          spacing_of(moved_affine(volume.affine, volume.shape, moves))};
}

void check_same_grid(const Scan& mask, const Scan& image) {
  const auto [shape, expected] = canonical_grid(image.volume);
  const auto [mask_shape, found] = canonical_grid(mask.volume);
  bool same = mask_shape == shape;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double difference = std::abs(found[axis] - expected[axis]);
    same = same && difference <= kSpacingTolerance * expected[axis];
  }
  check(same, ErrorKind::Input,
        "[data.conform] the mask '{}' does not belong to the image '{}'; got {}, expected {} in "
        "RAS axes. Was it drawn on another scan?",
        mask.name, image.name, text_of(mask_shape, found), text_of(shape, expected));
}

/// Bounding box of a grid's voxel centres in world coordinates: lowest and highest per axis.
std::array<std::array<double, 2>, 3> world_box(const Volume& grid) {
  std::array<std::array<double, 2>, 3> box{};
  for (std::size_t row = 0; row < 3; ++row) {
    box[row] = {grid.affine[row][3], grid.affine[row][3]};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double reach = grid.affine[row][axis] * static_cast<double>(grid.shape[axis] - 1);
      box[row][reach < 0 ? 0 : 1] += reach;
    }
  }
  return box;
}

void check_same_place(const Scan& mask, const Scan& image) {
  const auto found = world_box(mask.volume), expected = world_box(image.volume);
  for (std::size_t row = 0; row < 3; ++row) {
    check(found[row][0] <= expected[row][1] && expected[row][0] <= found[row][1], ErrorKind::Input,
          "[data.conform] the mask '{}' lies elsewhere than the image '{}'; got {} from {:.4g} to "
          "{:.4g} mm, expected some of {:.4g} to {:.4g} mm. Was it drawn on another scan?",
          mask.name, image.name, "xyz"[row], found[row][0], found[row][1], expected[row][0],
          expected[row][1]);
  }
}

/// A mask resampled to another grid in the same world coordinates.
LabelMap mask_on(const LabelMap& mask, const Affine& affine, const Shape3& shape, Edge edge,
                 int threads) {
  auto result =
      resample_nearest(mask, multiply(inverse(mask.affine), affine), shape, edge, threads);
  result.affine = affine;
  return result;
}

void check_labels(const Scan& labels, std::int64_t classes) {
  const auto& values = labels.volume.values;
  const auto stray = std::find_if(values.begin(), values.end(), [&](float value) {
    return value < 0 || value >= static_cast<float>(classes) ||
           value != static_cast<float>(static_cast<int>(value));
  });
  check(stray == values.end(), ErrorKind::Input,
        "[data.scans] {} has the label {}; expected whole numbers from 0 to {}. Is the number of "
        "classes right?",
        labels.name, stray == values.end() ? 0 : *stray, classes - 1);
}

}  // namespace

std::string_view to_string(ConformMethod method) { return name_of(kMethods, method); }

ConformMethod parse_conform_method(std::string_view text) {
  return parse_name(kMethods, "data.conform", "conform method", text);
}

Volume conform(const Scan& scan, const ConformTarget& target, int threads) {
  const auto grid = grid_of(target);
  if (target.method == ConformMethod::Brainchop) return conform_for_browser(scan, grid, threads);
  const auto moves = moves_to(scan.volume.affine, "RAS");
  Volume moved;
  if (!is_identity(moves)) moved = move_axes(scan.volume, moves, threads);
  const auto& canonical = is_identity(moves) ? scan.volume : moved;
  if (target.method == ConformMethod::ScipyZoom) return zoom_to(canonical, grid, threads);
  if (target.method == ConformMethod::None) return canonical;
  const auto rounding = scan.stored_integers ? Rounding::Integers : Rounding::None;
  return resample_centred(canonical, grid, rounding, threads);
}

void check_mask_fits(const Scan& mask, const Scan& image, ConformMethod method) {
  if (method == ConformMethod::ScipyZoom || method == ConformMethod::None) {
    check_same_grid(mask, image);
  } else {
    check_same_place(mask, image);
  }
}

LabelMap conform_mask(const Scan& mask, const Scan& image, const ConformTarget& target,
                      int threads) {
  check_mask_fits(mask, image, target.method);
  const auto grid = grid_of(target);
  const auto labels = to_canonical(binary(mask), threads);
  const auto& [shape, affine] = std::tie(image.volume.shape, image.volume.affine);
  if (target.method == ConformMethod::None) return labels;
  if (target.method == ConformMethod::ScipyZoom) return zoom_to(labels, grid, threads);
  if (target.method == ConformMethod::Brainchop) {
    return mask_on(labels, browser_affine(shape, affine, grid), grid.shape, Edge::HalfVoxel,
                   threads);
  }
  const auto moves = moves_to(affine, "RAS");
  const auto centred =
      centred_affine(moved_shape(shape, moves), moved_affine(affine, shape, moves), grid);
  return mask_on(labels, centred, grid.shape, Edge::Strict, threads);
}

LabelMap conform_labels(const Scan& labels, const Scan& image, const ConformTarget& target,
                        std::int64_t classes, int threads) {
  if (classes == 2) return conform_mask(labels, image, target, threads);
  check_labels(labels, classes);
  LabelMap result;  // filled one class at a time: conform_mask() handles a single mask
  for (std::int64_t label = 1; label < classes; ++label) {
    auto one = labels;
    for (auto& value : one.volume.values) value = value == static_cast<float>(label) ? 1 : 0;
    auto part = conform_mask(one, image, target, threads);
    if (label == 1) {
      result = std::move(part);
      continue;
    }
    for (std::size_t i = 0; i < part.values.size(); ++i) {
      if (part.values[i] != 0) result.values[i] = static_cast<std::uint8_t>(label);
    }
  }
  return result;
}

}  // namespace ubique::data
