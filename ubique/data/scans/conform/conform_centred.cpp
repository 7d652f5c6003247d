// SPDX-License-Identifier: Apache-2.0
// nibabel's conform: the scan's own directions (so that no axis ever mixes with another), the
// middle voxel staying where it is.
#include "ubique/data/scans/conform/methods.h"

namespace ubique::data {

Affine centred_affine(const Shape3& shape, const Affine& canonical, const TargetGrid& target) {
  const auto spacing = spacing_of(canonical);
  auto affine = canonical;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double from = static_cast<double>((shape[axis] - 1) / 2);
    const double to = static_cast<double>((target.shape[axis] - 1) / 2);
    for (std::size_t row = 0; row < 3; ++row) {
      affine[row][axis] = canonical[row][axis] * target.spacing[axis] / spacing[axis];
      affine[row][3] += canonical[row][axis] * from - affine[row][axis] * to;
    }
  }
  return affine;
}

Volume resample_centred(const Volume& canonical, const TargetGrid& target, Rounding rounding,
                        int threads) {
  const auto affine = centred_affine(canonical.shape, canonical.affine, target);
  const auto to_source = multiply(inverse(canonical.affine), affine);
  auto result =
      resample_linear(canonical, to_source, target.shape, Edge::Strict, rounding, threads);
  result.affine = affine;
  return result;
}

}  // namespace ubique::data
