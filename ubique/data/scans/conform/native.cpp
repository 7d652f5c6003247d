// SPDX-License-Identifier: Apache-2.0
// Resamples by the affines of the two grids. Both are brought into canonical axes first, where an
// axis-aligned scan needs only one table per axis.
#include "ubique/data/scans/conform/native.h"

#include "ubique/data/scans/conform/resample.h"
#include "ubique/data/scans/volume/orientation.h"

namespace ubique::data {
namespace {

/// resample(source, to_source, shape) between the two grids in canonical axes.
template <typename T, typename Resample>
Grid<T> back_to(const Grid<T>& conformed, const Volume& like, int threads,
                const Resample& resample) {
  const auto moves = moves_to(like.affine, "RAS");
  const auto shape = moved_shape(like.shape, moves);
  const auto affine = moved_affine(like.affine, like.shape, moves);
  const auto turned = moves_to(conformed.affine, "RAS");
  Grid<T> moved;
  if (!is_identity(turned)) moved = move_axes(conformed, turned, threads);
  const auto& source = is_identity(turned) ? conformed : moved;
  auto result = resample(source, multiply(inverse(source.affine), affine), shape);
  result.affine = affine;
  if (!is_identity(moves)) result = move_axes(result, inverse(moves), threads);
  result.affine = like.affine;
  return result;
}

}  // namespace

LabelMap to_native(const LabelMap& conformed, const Scan& like, int threads) {
  return back_to(conformed, like.volume, threads,
                 [&](const LabelMap& source, const Affine& to_source, const Shape3& shape) {
                   return resample_nearest(source, to_source, shape, Edge::HalfVoxel, threads);
                 });
}

Volume to_native(const Volume& conformed, const Scan& like, int threads) {
  return back_to(conformed, like.volume, threads,
                 [&](const Volume& source, const Affine& to_source, const Shape3& shape) {
                   return resample_linear(source, to_source, shape, Edge::HalfVoxel, Rounding::None,
                                          threads);
                 });
}

}  // namespace ubique::data
