// SPDX-License-Identifier: Apache-2.0
// Values of one grid at the voxels of another whose axes run along its own: one table per axis, a
// plane between two planes, a row between two rows, values along the row; in double, rounded once.
import type { Shape3 } from '../model';
import { type VolumeGrid, voxelCount } from './grid';

/** How values that were integers in the file come out of interpolation. */
export type Rounding = 'none' | 'integers';

/** For each voxel along one axis of the result, where it lies on the axis of the source: `weight`
 * of the voxel after `lower`, the rest of `lower` itself; lower = -1 is outside, and value 0. */
export interface AxisTable {
  lower: Int32Array;
  weight: Float64Array;
}
export type AxisTables = [AxisTable, AxisTable, AxisTable];

export function emptyTable(length: number): AxisTable {
  return { lower: new Int32Array(length), weight: new Float64Array(length) };
}

/** Halves away from zero. */
export function storedValue(value: number, rounding: Rounding): number {
  if (rounding === 'none') return value;
  return value < 0 ? -Math.floor(0.5 - value) : Math.floor(value + 0.5);
}

export function tablesShape(tables: AxisTables): Shape3 {
  return [tables[0].lower.length, tables[1].lower.length, tables[2].lower.length];
}

/** out = a * (1 - weight) + b * weight, of `count` values from each place. */
function blend(
  from: Float32Array | Float64Array,
  a: number,
  b: number,
  weight: number,
  count: number,
  out: Float64Array,
): void {
  const rest = 1 - weight;
  for (let i = 0; i < count; ++i) out[i] = from[a + i] * rest + from[b + i] * weight;
}

function writeRow(
  row: Float64Array,
  table: AxisTable,
  rounding: Rounding,
  out: Float32Array,
  place: number,
): void {
  const { lower, weight } = table;
  for (let k = 0; k < lower.length; ++k) {
    const at = lower[k];
    if (at < 0) continue;
    // The row has one element more, finite and of weight 0, after the last voxel.
    const value = row[at] * (1 - weight[k]) + row[at + 1] * weight[k];
    out[place + k] = storedValue(value, rounding);
  }
}

export function resampleLinearTables(
  source: VolumeGrid,
  tables: AxisTables,
  rounding: Rounding,
): Float32Array {
  const [, rows, columns] = source.shape;
  const [ni, nj, nk] = tablesShape(tables);
  const out = new Float32Array(voxelCount([ni, nj, nk]));
  const size = rows * columns;
  const plane = new Float64Array(size);
  const row = new Float64Array(columns + 1);
  for (let i = 0; i < ni; ++i) {
    const first = tables[0].lower[i] * size;
    const wi = tables[0].weight[i];
    if (first < 0) continue;
    blend(source.values, first, wi > 0 ? first + size : first, wi, size, plane);
    for (let j = 0; j < nj; ++j) {
      const begin = tables[1].lower[j] * columns;
      const wj = tables[1].weight[j];
      if (begin < 0) continue;
      blend(plane, begin, wj > 0 ? begin + columns : begin, wj, columns, row);
      writeRow(row, tables[2], rounding, out, (i * nj + j) * nk);
    }
  }
  return out;
}

export function resampleNearestTables(
  values: Uint8Array,
  shape: Shape3,
  tables: AxisTables,
): Uint8Array {
  const [ni, nj, nk] = tablesShape(tables);
  const out = new Uint8Array(voxelCount([ni, nj, nk]));
  const columns = tables[2].lower;
  for (let i = 0; i < ni; ++i) {
    const fromI = tables[0].lower[i];
    if (fromI < 0) continue;
    for (let j = 0; j < nj; ++j) {
      const fromJ = tables[1].lower[j];
      if (fromJ < 0) continue;
      const from = (fromI * shape[1] + fromJ) * shape[2];
      const to = (i * nj + j) * nk;
      for (let k = 0; k < nk; ++k) out[to + k] = columns[k] < 0 ? 0 : values[from + columns[k]];
    }
  }
  return out;
}
