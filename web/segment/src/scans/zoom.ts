// SPDX-License-Identifier: Apache-2.0
// The way of SciPy's zoom (corner aligned, linear), then centre crop, then centre pad; on the part
// that the crop leaves. Takes grids in canonical axes.
import type { Shape3 } from '../model';
import { type Affine, type Vector3, multiply, spacingOf, zeroAffine } from './affine';
import type { VolumeGrid } from './grid';
import { type AxisTable, emptyTable, resampleLinearTables } from './resample';
import { check } from './scan-error';

/** One axis on its way from n voxels to the target's: zoomed to m, cropped, padded. */
interface ZoomAxis {
  length: number; // n
  zoomed: number; // m
  target: number; // after crop and pad
  offset: number; // zoomed voxel = target voxel + offset
  step: number; // source voxels per zoomed voxel
}

/** Halves to even. */
function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

function zoomAxis(
  length: number,
  spacing: number,
  target: number,
  targetSpacing: number,
): ZoomAxis {
  const zoomed = roundHalfEven(length * (spacing / targetSpacing));
  check(
    zoomed >= 1,
    () =>
      `The scan is too thin for this model: ${length} voxels of ${spacing} mm along one axis. ` +
      `Expected at least half a voxel of ${targetSpacing} mm.`,
  );
  check(
    zoomed < 2 ** 40,
    () =>
      `The scan is too large for this model: ${length} voxels of ${spacing} mm along one axis. ` +
      'Is the spacing in its header right?',
  );
  const offset =
    zoomed > target ? Math.floor((zoomed - target) / 2) : 0 - Math.floor((target - zoomed) / 2);
  const step = zoomed > 1 ? (length - 1) / (zoomed - 1) : 1;
  return { length, zoomed, target, offset, step };
}

function zoomTable(axis: ZoomAxis): AxisTable {
  const table = emptyTable(axis.target);
  for (let i = 0; i < axis.target; ++i) {
    const zoomed = i + axis.offset;
    const x = zoomed * axis.step;
    // SciPy's quirk is kept: where the product rounds to above the last voxel, that plane is
    // outside and comes out as zeros.
    const inside = zoomed >= 0 && zoomed < axis.zoomed && x <= axis.length - 1;
    const lower = inside ? Math.floor(x) : -1;
    table.lower[i] = lower;
    table.weight[i] = inside ? x - lower : 0;
  }
  return table;
}

/** Which voxel of the source each voxel of the result came from, in the world. */
function zoomedAffine(canonical: Affine, axes: ZoomAxis[]): Affine {
  const toSource = zeroAffine();
  axes.forEach((axis, i) => {
    // One voxel has no corners to align: there the extents of the two grids are made the same.
    const aligned = axis.length > 1 && axis.zoomed > 1;
    const step = aligned ? axis.step : axis.length / axis.zoomed;
    const start = aligned ? 0 : 0.5 * step - 0.5;
    toSource[i][i] = step;
    toSource[i][3] = start + step * axis.offset;
  });
  return multiply(canonical, toSource);
}

export function zoomTo(canonical: VolumeGrid, shape: Shape3, target: Vector3): VolumeGrid {
  const spacing = spacingOf(canonical.affine);
  const axis = (i: number) => zoomAxis(canonical.shape[i], spacing[i], shape[i], target[i]);
  const axes = [axis(0), axis(1), axis(2)];
  const values = resampleLinearTables(
    canonical,
    [zoomTable(axes[0]), zoomTable(axes[1]), zoomTable(axes[2])],
    'none',
  );
  return { shape, affine: zoomedAffine(canonical.affine, axes), values };
}
