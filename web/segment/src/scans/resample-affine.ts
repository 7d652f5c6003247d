// SPDX-License-Identifier: Apache-2.0
// Interpolation under any affine. Grids whose axes run along each other become tables; oblique ones
// are worked out voxel by voxel. Points within 1e-9 of an edge are on it, and those within 1e-9 of
// the middle between two voxels belong to the upper one: no label depends on rounding.
import type { Shape3 } from '../model';
import type { Affine } from './affine';
import { type LabelGrid, type VolumeGrid, denseStrides, voxelCount } from './grid';
import {
  type AxisTables,
  type Rounding,
  emptyTable,
  resampleLinearTables,
  resampleNearestTables,
  storedValue,
} from './resample';

/** What lies between the outermost voxel centres and half a voxel beyond them: outside, or part of
 * the outermost voxel. */
export type Edge = 'strict' | 'half_voxel';

const slack = 1e-9; // voxels; far above rounding, far below any real displacement

/** x moved into [0, length - 1], or -1 where it is outside. */
function pointOnAxis(x: number, length: number, edge: Edge): number {
  const last = length - 1;
  const reach = slack + (edge === 'strict' ? 0 : 0.5);
  if (!(x >= -reach && x <= last + reach)) return -1;
  return Math.min(Math.max(x, 0), last);
}

/** Whether no voxel of the result is moved across its axis by more than the slack. */
function runsAlongAxes(toSource: Affine, shape: Shape3): boolean {
  for (let row = 0; row < 3; ++row) {
    for (let axis = 0; axis < 3; ++axis) {
      if (row !== axis && Math.abs(toSource[row][axis]) * shape[axis] > slack) return false;
    }
  }
  return true;
}

function tablesOf(toSource: Affine, shape: Shape3, source: Shape3, edge: Edge): AxisTables {
  const table = (axis: number) => {
    const result = emptyTable(shape[axis]);
    for (let i = 0; i < shape[axis]; ++i) {
      const x = toSource[axis][axis] * i + toSource[axis][3];
      const point = pointOnAxis(x, source[axis], edge);
      result.lower[i] = Math.floor(point);
      result.weight[i] = point - result.lower[i];
    }
    return result;
  };
  return [table(0), table(1), table(2)];
}

/** From a point between two voxels to the nearest of them. */
function nearestOf(lower: number, weight: number): number {
  return weight + slack >= 0.5 ? lower + 1 : lower;
}

/** The point of the source under a voxel of the result. */
interface Corner {
  lower: Int32Array; // 3
  weight: Float64Array; // 3
}

/** value(corner) for every voxel whose point lies in the source. */
function voxelByVoxel(
  source: Shape3,
  toSource: Affine,
  shape: Shape3,
  edge: Edge,
  out: Float32Array | Uint8Array,
  value: (corner: Corner) => number,
): void {
  const corner: Corner = { lower: new Int32Array(3), weight: new Float64Array(3) };
  const locate = (i: number, j: number, k: number): boolean => {
    for (let axis = 0; axis < 3; ++axis) {
      const row = toSource[axis];
      const x = row[3] + row[0] * i + row[1] * j + row[2] * k;
      const point = pointOnAxis(x, source[axis], edge);
      if (point < 0) return false;
      corner.lower[axis] = Math.floor(point);
      corner.weight[axis] = point - corner.lower[axis];
    }
    return true;
  };
  let place = 0;
  for (let i = 0; i < shape[0]; ++i) {
    for (let j = 0; j < shape[1]; ++j) {
      for (let k = 0; k < shape[2]; ++k, ++place) {
        if (locate(i, j, k)) out[place] = value(corner);
      }
    }
  }
}

function linearValue(source: VolumeGrid, { lower, weight }: Corner): number {
  const strides = denseStrides(source.shape);
  const first = lower[0] * strides[0] + lower[1] * strides[1] + lower[2];
  const si = weight[0] > 0 ? strides[0] : 0;
  const sj = weight[1] > 0 ? strides[1] : 0;
  const sk = weight[2] > 0 ? 1 : 0;
  let sum = 0;
  for (let i = 0; i < 2; ++i) {
    const wi = i === 0 ? 1 - weight[0] : weight[0];
    for (let j = 0; j < 2; ++j) {
      const wj = j === 0 ? 1 - weight[1] : weight[1];
      const at = first + i * si + j * sj;
      const along = source.values[at] * (1 - weight[2]) + source.values[at + sk] * weight[2];
      sum += wi * wj * along;
    }
  }
  return sum;
}

/** `toSource` takes voxels of the result to voxels of the source. */
export function resampleLinear(
  source: VolumeGrid,
  toSource: Affine,
  shape: Shape3,
  edge: Edge,
  rounding: Rounding,
): Float32Array {
  if (runsAlongAxes(toSource, shape)) {
    return resampleLinearTables(source, tablesOf(toSource, shape, source.shape, edge), rounding);
  }
  const out = new Float32Array(voxelCount(shape));
  voxelByVoxel(source.shape, toSource, shape, edge, out, (corner) =>
    storedValue(linearValue(source, corner), rounding),
  );
  return out;
}

export function resampleNearest(
  source: LabelGrid,
  toSource: Affine,
  shape: Shape3,
  edge: Edge,
): Uint8Array {
  if (runsAlongAxes(toSource, shape)) {
    const tables = tablesOf(toSource, shape, source.shape, edge);
    for (const { lower, weight } of tables) {
      for (let i = 0; i < lower.length; ++i) lower[i] = nearestOf(lower[i], weight[i]);
    }
    return resampleNearestTables(source.values, source.shape, tables);
  }
  const out = new Uint8Array(voxelCount(shape));
  const strides = denseStrides(source.shape);
  voxelByVoxel(source.shape, toSource, shape, edge, out, ({ lower, weight }) => {
    const i = nearestOf(lower[0], weight[0]);
    const j = nearestOf(lower[1], weight[1]);
    return source.values[i * strides[0] + j * strides[1] + nearestOf(lower[2], weight[2])];
  });
  return out;
}
