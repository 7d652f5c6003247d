// SPDX-License-Identifier: Apache-2.0
// The scan as BrainChop gives it to its networks: a cube in LIA axes, 8 bits, brightness cut where
// the top thousandth of the non-zero voxels begins.
import type { Shape3 } from '../model';
import { type Affine, type Vector3, inverse, multiply, zeroAffine } from './affine';
import type { VolumeGrid } from './grid';
import {
  axisCodes,
  inverseMoves,
  moveAxes,
  movedAffine,
  movedShape,
  movesTo,
  toCanonical,
} from './orientation';
import { resampleLinear } from './resample-affine';
import type { Scan } from './scan';

const binCount = 1000;
const shareKept = 0.999;
const white = 255;
const browserAxes = 'LIA';

/** What is taken off and multiplied by to get 8 bits. */
interface RobustScale {
  low: number;
  factor: number;
}

function is8Bit(scan: Scan): boolean {
  return scan.header.type === 'u8' && scan.storedIntegers;
}

/** BrainChop asks nothing of the scan's own spacing, but its target has 1 mm only. */
function isConformed(scan: Scan, shape: Shape3, spacing: Vector3): boolean {
  return (
    spacing.every((length) => length === 1) &&
    is8Bit(scan) &&
    scan.volume.shape.every((length, axis) => length === shape[axis]) &&
    axisCodes(scan.volume.affine) === browserAxes
  );
}

function histogram(values: Float32Array, low: number, width: number): Float64Array {
  const bins = new Float64Array(binCount);
  for (const value of values) {
    ++bins[Math.min(Math.floor((value - low) / width), binCount - 1)];
  }
  return bins;
}

function robustScale(values: Float32Array): RobustScale {
  let low = values[0];
  let high = values[0];
  let nonZero = 0;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
    if (Math.abs(value) >= Math.fround(1e-15)) ++nonZero;
  }
  const width = (high - low) / binCount;
  if (!(width > 0)) return { low, factor: 1 };
  const bins = histogram(values, low, width);
  const kept = values.length - Math.trunc((1 - shareKept) * nonZero);
  // The brightest value is the lower end of the bin before the one in which the count is reached.
  let bin = 0;
  let count = bins[0];
  while (bin < binCount - 1) {
    count += bins[bin + 1];
    if (count >= kept) break;
    ++bin;
  }
  return { low, factor: bin === 0 ? 1 : white / (bin * width) };
}

function to8Bits(values: Float32Array, { low, factor }: RobustScale): void {
  for (let i = 0; i < values.length; ++i) {
    values[i] = Math.trunc(Math.min(Math.max(factor * (values[i] - low), 0), white));
  }
}

/** The scanner's directions in LIA order, the middles n / 2 (of the file's own axes) in one
 * place. */
function browserAffine(from: Shape3, affine: Affine, to: Shape3, spacing: Vector3): Affine {
  const result = zeroAffine();
  result[0][0] = -spacing[0]; // i to the left
  result[2][1] = -spacing[1]; // j down
  result[1][2] = spacing[2]; // k to the front
  for (let row = 0; row < 3; ++row) {
    result[row][3] = affine[row][3];
    for (let axis = 0; axis < 3; ++axis) {
      result[row][3] += (affine[row][axis] * from[axis]) / 2 - (result[row][axis] * to[axis]) / 2;
    }
  }
  return result;
}

/** Values 0 to 255, whole numbers. */
export function conformForBrowser(scan: Scan, shape: Shape3, spacing: Vector3): VolumeGrid {
  if (isConformed(scan, shape, spacing)) {
    return { ...scan.volume, values: scan.volume.values.slice() };
  }
  const affine = browserAffine(scan.volume.shape, scan.volume.affine, shape, spacing);
  // Resampled in canonical axes, where straight scans need no voxel-by-voxel work, then turned.
  const source = toCanonical(scan.volume);
  const moves = movesTo(affine, 'RAS');
  const toSource = multiply(inverse(source.affine), movedAffine(affine, shape, moves));
  const straight = movedShape(shape, moves);
  const values = resampleLinear(source, toSource, straight, 'strict', 'none');
  to8Bits(values, is8Bit(scan) ? { low: 0, factor: 1 } : robustScale(scan.volume.values));
  const turned = moveAxes({ shape: straight, affine, values }, inverseMoves(moves));
  return { ...turned, affine };
}
