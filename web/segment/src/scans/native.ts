// SPDX-License-Identifier: Apache-2.0
// Labels back from the cube to the scan's own grid, by the affines of the two and the nearest
// voxel; outside the cube 0. Both are brought into canonical axes first: there a straight scan
// needs one table per axis.
import type { Shape3 } from '../model';
import { type Affine, inverse, multiply } from './affine';
import type { LabelGrid } from './grid';
import {
  inverseMoves,
  moveAxes,
  movedAffine,
  movedShape,
  movesTo,
  toCanonical,
} from './orientation';
import { resampleNearest } from './resample-affine';

export function toNative(conformed: LabelGrid, shape: Shape3, affine: Affine): LabelGrid {
  const moves = movesTo(affine, 'RAS');
  const straight = movedShape(shape, moves);
  const canonical = movedAffine(affine, shape, moves);
  const source = toCanonical(conformed);
  const toSource = multiply(inverse(source.affine), canonical);
  const values = resampleNearest(source, toSource, straight, 'half_voxel');
  const turned = moveAxes({ shape: straight, affine: canonical, values }, inverseMoves(moves));
  return { ...turned, affine };
}
