// SPDX-License-Identifier: Apache-2.0
// Affines of voxel grids: products, inverses, spacing. Voxel (i, j, k, 1) to millimetres, x to the
// right, y to the front, z up; row by row.
import { check } from './scan-error';

export type Row = [number, number, number, number];
export type Affine = [Row, Row, Row, Row];
export type Vector3 = [number, number, number];

export function zeroAffine(): Affine {
  return [
    [0, 0, 0, 0],
    [0, 0, 0, 0],
    [0, 0, 0, 0],
    [0, 0, 0, 1],
  ];
}

export function copyAffine(a: Affine): Affine {
  return [[...a[0]], [...a[1]], [...a[2]], [...a[3]]];
}

/** One number stands for all axes. */
export function everyAxis(spacing: number | Vector3): Vector3 {
  return typeof spacing === 'number' ? [spacing, spacing, spacing] : spacing;
}

/** Millimetres per voxel along each axis. */
export function spacingOf(a: Affine): Vector3 {
  const length = (axis: number) =>
    Math.sqrt(a[0][axis] * a[0][axis] + a[1][axis] * a[1][axis] + a[2][axis] * a[2][axis]);
  return [length(0), length(1), length(2)];
}

export function multiply(a: Affine, b: Affine): Affine {
  const product = zeroAffine();
  for (let row = 0; row < 4; ++row) {
    for (let column = 0; column < 4; ++column) {
      let sum = 0;
      for (let i = 0; i < 4; ++i) sum += a[row][i] * b[i][column];
      product[row][column] = sum;
    }
  }
  return product;
}

/** mm³ */
export function voxelVolume(a: Affine): number {
  return Math.abs(
    a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
      a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
      a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]),
  );
}

export function inverse(a: Affine): Affine {
  const result = zeroAffine();
  for (let row = 0; row < 3; ++row) {
    // The adjugate: transposed cofactors.
    const r1 = (row + 1) % 3;
    const r2 = (row + 2) % 3;
    for (let column = 0; column < 3; ++column) {
      const c1 = (column + 1) % 3;
      const c2 = (column + 2) % 3;
      result[row][column] = a[c1][r1] * a[c2][r2] - a[c1][r2] * a[c2][r1];
    }
  }
  let determinant = 0;
  for (let i = 0; i < 3; ++i) determinant += a[0][i] * result[i][0];
  check(
    Number.isFinite(determinant) && Math.abs(determinant) >= Number.MIN_VALUE,
    () =>
      `The affine has no inverse: a voxel of ${determinant} mm³. Expected three independent ` +
      'directions; the header is damaged.',
  );
  for (let row = 0; row < 3; ++row) {
    for (let column = 0; column < 3; ++column) result[row][column] /= determinant;
    for (let i = 0; i < 3; ++i) result[row][3] -= result[row][i] * a[i][3];
  }
  return result;
}
