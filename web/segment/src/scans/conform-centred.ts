// SPDX-License-Identifier: Apache-2.0
// The way of nibabel's conform: the scan's own directions (so that no axis ever mixes with
// another), the middle voxel staying where it is. Takes grids in canonical axes.
import type { Shape3 } from '../model';
import { type Affine, type Vector3, copyAffine, inverse, multiply, spacingOf } from './affine';
import type { VolumeGrid } from './grid';
import type { Rounding } from './resample';
import { resampleLinear } from './resample-affine';

function centredAffine(from: Shape3, canonical: Affine, to: Shape3, target: Vector3): Affine {
  const spacing = spacingOf(canonical);
  const affine = copyAffine(canonical);
  for (let axis = 0; axis < 3; ++axis) {
    const fromMiddle = Math.floor((from[axis] - 1) / 2);
    const toMiddle = Math.floor((to[axis] - 1) / 2);
    for (let row = 0; row < 3; ++row) {
      affine[row][axis] = (canonical[row][axis] * target[axis]) / spacing[axis];
      affine[row][3] += canonical[row][axis] * fromMiddle - affine[row][axis] * toMiddle;
    }
  }
  return affine;
}

export function resampleCentred(
  canonical: VolumeGrid,
  shape: Shape3,
  spacing: Vector3,
  rounding: Rounding,
): VolumeGrid {
  const affine = centredAffine(canonical.shape, canonical.affine, shape, spacing);
  const toSource = multiply(inverse(canonical.affine), affine);
  return { shape, affine, values: resampleLinear(canonical, toSource, shape, 'strict', rounding) };
}
