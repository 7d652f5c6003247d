// SPDX-License-Identifier: Apache-2.0
// Where a NIfTI file says that its voxels are: by sform, by qform, or by spacing alone, in this
// order of preference; and the qform of an affine.
import type { Shape3 } from '../model';
import { type Affine, type Vector3, spacingOf, zeroAffine } from './affine';
import type { NiftiFields } from './nifti-fields';
import { check } from './scan-error';

const shortestVoxel = 1e-6; // mm: beyond is no scan of anything
const longestVoxel = 1e6;
const farthestVoxel = 1e9; // mm from the origin
const flatSpace = 1e-6; // least volume spanned by the three axes' directions
const rightAngle = 1e-4; // largest cosine between axes that counts as none

export interface Place {
  affine: Affine;
  spacing: Vector3; // mm
  qformCode: number;
  sformCode: number;
}

function millimetresPerUnit(units: number): number {
  const space = units & 7;
  if (space === 1) return 1e3; // metres
  return space === 3 ? 1e-3 : 1; // micrometres
}

/** Unknown codes count as "none". */
function formCode(code: number): number {
  return code >= 0 && code <= 5 ? code : 0;
}

/** Lengths of a voxel in the file's own unit. A negative one means its size; an axis that the file
 * does not have needs none. */
function voxelSizes(fields: NiftiFields, unit: number, name: string): Vector3 {
  const size = (axis: number) => {
    const stored = Math.abs(fields.pixdim[axis + 1]);
    const length = axis >= fields.dim[0] && stored === 0 ? 1 : stored;
    check(
      length * unit >= shortestVoxel && length * unit <= longestVoxel,
      () =>
        `${name}: the spacing of axis ${axis} makes no sense: ${length * unit} mm. Expected more ` +
        'than 0; is its header damaged?',
    );
    return length;
  };
  return [size(0), size(1), size(2)];
}

function sformAffine({ srow }: NiftiFields): Affine {
  return [
    [srow[0], srow[1], srow[2], srow[3]],
    [srow[4], srow[5], srow[6], srow[7]],
    [srow[8], srow[9], srow[10], srow[11]],
    [0, 0, 0, 1],
  ];
}

/** a of the unit quaternion whose b, c, d the file has; rounding may have made those too long. */
function quaternionScalar(fields: NiftiFields, name: string): number {
  const [b, c, d] = fields.quaternion;
  const rest = 1 - (b * b + c * c + d * d);
  const tolerance = 3 * (fields.version === 1 ? 2 ** -23 : Number.EPSILON);
  if (Math.abs(rest) < tolerance) return 0;
  check(
    rest > 0,
    () =>
      `${name}: the qform's quaternion is too long: ${b}, ${c}, ${d}. Expected a sum of squares ` +
      'of at most 1; is its header damaged?',
  );
  return Math.sqrt(rest);
}

function qformAffine(fields: NiftiFields, sizes: Vector3, name: string): Affine {
  const a = quaternionScalar(fields, name);
  const [b, c, d] = fields.quaternion;
  const s = 2 / (a * a + b * b + c * c + d * d);
  const rotation = [
    [1 - s * (c * c + d * d), s * (b * c - a * d), s * (b * d + a * c)],
    [s * (b * c + a * d), 1 - s * (b * b + d * d), s * (c * d - a * b)],
    [s * (b * d - a * c), s * (c * d + a * b), 1 - s * (b * b + c * c)],
  ];
  const handedness = fields.pixdim[0] === -1 ? -1 : 1;
  const affine = zeroAffine();
  for (let row = 0; row < 3; ++row) {
    for (let axis = 0; axis < 3; ++axis) {
      affine[row][axis] = rotation[row][axis] * (axis === 2 ? handedness * sizes[2] : sizes[axis]);
    }
    affine[row][3] = fields.qoffset[row];
  }
  return affine;
}

/** No form at all: the centre of the volume is the origin and x runs from right to left. */
function spacingAffine(shape: Shape3, fields: NiftiFields, sizes: Vector3): Affine {
  const affine = zeroAffine();
  for (let axis = 0; axis < 3; ++axis) {
    const size = axis >= fields.dim[0] ? 1 : sizes[axis];
    const step = axis === 0 ? -size : size;
    affine[axis][axis] = step;
    affine[axis][3] = (-(shape[axis] - 1) / 2) * step;
  }
  return affine;
}

function determinant(m: number[][]): number {
  return (
    m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
    m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
    m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
  );
}

/** The axes' directions as columns of length 1. */
function directionsOf(affine: Affine): number[][] {
  const lengths = spacingOf(affine);
  return [0, 1, 2].map((row) => [0, 1, 2].map((axis) => affine[row][axis] / lengths[axis]));
}

function checkAffine(affine: Affine, name: string): void {
  const lengths = spacingOf(affine);
  for (let axis = 0; axis < 3; ++axis) {
    check(
      lengths[axis] >= shortestVoxel &&
        lengths[axis] <= longestVoxel &&
        Math.abs(affine[axis][3]) <= farthestVoxel,
      () =>
        `${name}: the affine makes no sense: ${lengths[axis]} mm per voxel along axis ${axis}, ` +
        `${affine[axis][3]} mm from the origin. Is its header damaged?`,
    );
  }
  check(
    Math.abs(determinant(directionsOf(affine))) >= flatSpace,
    () =>
      `${name}: the affine is singular: its three axes lie in one plane. Expected them to span a ` +
      'space; is its header damaged?',
  );
}

export function placeOf(fields: NiftiFields, shape: Shape3, name: string): Place {
  const unit = millimetresPerUnit(fields.units);
  const sizes = voxelSizes(fields, unit, name);
  const qformCode = formCode(fields.qformCode);
  const sformCode = formCode(fields.sformCode);
  const affine =
    sformCode > 0
      ? sformAffine(fields)
      : qformCode > 0
        ? qformAffine(fields, sizes, name)
        : spacingAffine(shape, fields, sizes);
  for (let row = 0; row < 3; ++row) {
    for (let column = 0; column < 4; ++column) affine[row][column] *= unit;
  }
  checkAffine(affine, name);
  const spacing: Vector3 = [sizes[0] * unit, sizes[1] * unit, sizes[2] * unit];
  return { affine, spacing, qformCode, sformCode };
}

/** From the largest of the four squares, so that no small number is divided by. */
function quaternionOf(r: number[][]): number[] {
  const trace = r[0][0] + r[1][1] + r[2][2];
  const squares = [trace, r[0][0], r[1][1], r[2][2]];
  const largest = squares.indexOf(Math.max(...squares));
  const q = [0, 0, 0, 0];
  if (largest === 0) {
    q[0] = 1 + trace;
    q[1] = r[2][1] - r[1][2];
    q[2] = r[0][2] - r[2][0];
    q[3] = r[1][0] - r[0][1];
  } else {
    const i = largest - 1;
    const j = (i + 1) % 3;
    const k = (i + 2) % 3;
    q[0] = r[k][j] - r[j][k];
    q[1 + i] = 1 + 2 * r[i][i] - trace;
    q[1 + j] = r[j][i] + r[i][j];
    q[1 + k] = r[k][i] + r[i][k];
  }
  const length = Math.hypot(...q) * (q[0] < 0 ? -1 : 1);
  return q.map((part) => part / length);
}

export interface Qform {
  quaternion: number[]; // b, c, d
  handedness: 1 | -1;
}

/** None where the axes are not at right angles. */
export function qformOf(affine: Affine): Qform | undefined {
  const rotation = directionsOf(affine);
  for (let axis = 0; axis < 3; ++axis) {
    let cosine = 0;
    for (const row of rotation) cosine += row[axis] * row[(axis + 1) % 3];
    if (Math.abs(cosine) > rightAngle) return undefined;
  }
  const handedness = determinant(rotation) < 0 ? -1 : 1;
  if (handedness < 0) for (const row of rotation) row[2] = -row[2];
  return { quaternion: quaternionOf(rotation).slice(1), handedness };
}
