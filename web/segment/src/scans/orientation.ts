// SPDX-License-Identifier: Apache-2.0
// Which way the axes of a grid point in the body, and moving them: permuting and flipping, never
// interpolating. The rotation nearest to the affine decides which axis belongs to which direction.
import type { Shape3 } from '../model';
import { type Affine, type Vector3, copyAffine, spacingOf } from './affine';
import { type Grid, denseStrides, emptyLike } from './grid';
import { check } from './scan-error';

/** Where one axis of the result comes from. */
export interface AxisMove {
  source: number; // axis of the grid that is moved
  flipped: boolean; // runs the other way
}
export type AxisMoves = [AxisMove, AxisMove, AxisMove]; // one for each axis of the result

type Columns3 = [Vector3, Vector3, Vector3];

const growing = 'RAS';
const falling = 'LPI';

function dot(a: Vector3, b: Vector3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** Turns two columns of both matrices; returns whether they were not yet orthogonal. */
function makeOrthogonal(a: Columns3, v: Columns3, p: number, q: number): boolean {
  const pp = dot(a[p], a[p]);
  const qq = dot(a[q], a[q]);
  const pq = dot(a[p], a[q]);
  if (Math.abs(pq) <= Number.EPSILON * Math.sqrt(pp * qq)) return false;
  const zeta = (qq - pp) / (2 * pq);
  const sign = zeta < 0 || Object.is(zeta, -0) ? -1 : 1;
  const tangent = sign / (Math.abs(zeta) + Math.hypot(1, zeta));
  const cosine = 1 / Math.hypot(1, tangent);
  const sine = cosine * tangent;
  for (const matrix of [a, v]) {
    for (let row = 0; row < 3; ++row) {
      const x = matrix[p][row];
      const y = matrix[q][row];
      matrix[p][row] = cosine * x - sine * y;
      matrix[q][row] = sine * x + cosine * y;
    }
  }
  return true;
}

/** The orthogonal matrix nearest to one with these columns; missing directions stay zero. */
function nearestRotation(a: Columns3): Columns3 {
  const mostSweeps = 40; // four or five are usual
  const v: Columns3 = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < mostSweeps; ++sweep) {
    const first = makeOrthogonal(a, v, 0, 1);
    const second = makeOrthogonal(a, v, 0, 2);
    const third = makeOrthogonal(a, v, 1, 2);
    if (!first && !second && !third) break;
  }
  const singular = a.map((column) => Math.sqrt(dot(column, column)));
  const least = Math.max(...singular) * 3 * Number.EPSILON;
  const rotation: Columns3 = [[0, 0, 0], [0, 0, 0], [0, 0, 0]];
  for (let i = 0; i < 3; ++i) {
    if (!(singular[i] > least)) continue;
    for (let column = 0; column < 3; ++column) {
      for (let row = 0; row < 3; ++row) {
        rotation[column][row] += (a[i][row] / singular[i]) * v[i][column];
      }
    }
  }
  return rotation;
}

interface Direction {
  world: number; // 0 right, 1 anterior, 2 superior
  falling: boolean;
}

function strongest(column: Vector3): number {
  return Math.max(Math.abs(column[0]), Math.abs(column[1]), Math.abs(column[2]));
}

/** For each axis of the grid, the axis of the body it runs along. */
function directionsOf(affine: Affine): Direction[] {
  const spacing = spacingOf(affine);
  const column = (axis: number): Vector3 => {
    const length = spacing[axis] > 0 ? spacing[axis] : 1;
    return [affine[0][axis] / length, affine[1][axis] / length, affine[2][axis] / length];
  };
  const rotation = nearestRotation([column(0), column(1), column(2)]);
  const strength = rotation.map(strongest);
  const order = [0, 1, 2].sort((a, b) => strength[b] - strength[a]); // stable
  const directions: Direction[] = [];
  for (const axis of order) {
    const found = rotation[axis];
    check(
      strongest(found) > 1e-8,
      () =>
        `The affine does not say where axis ${axis} runs. Expected three independent ` +
        'directions; is the header damaged?',
    );
    let world = 0;
    for (let row = 1; row < 3; ++row) {
      if (Math.abs(found[row]) > Math.abs(found[world])) world = row;
    }
    directions[axis] = { world, falling: found[world] < 0 };
    for (const other of rotation) other[world] = 0; // taken
  }
  return directions;
}

/** What brings a grid into the axes named by `codes`: 'RAS', 'LIA'. */
export function movesTo(affine: Affine, codes: string): AxisMoves {
  const directions = directionsOf(affine);
  const moves = [...codes].map((code) => {
    const wantedFalling = !growing.includes(code);
    const world = (wantedFalling ? falling : growing).indexOf(code);
    const source = directions.findIndex((direction) => direction.world === world);
    return { source, flipped: directions[source].falling !== wantedFalling };
  });
  return [moves[0], moves[1], moves[2]];
}

/** 'RAS', 'LIA': the direction in which each axis grows. */
export function axisCodes(affine: Affine): string {
  return directionsOf(affine)
    .map((direction) => (direction.falling ? falling : growing)[direction.world])
    .join('');
}

export function inverseMoves(moves: AxisMoves): AxisMoves {
  const back: AxisMoves = [moves[0], moves[1], moves[2]];
  moves.forEach((move, axis) => {
    back[move.source] = { source: axis, flipped: move.flipped };
  });
  return back;
}

export function isIdentity(moves: AxisMoves): boolean {
  return moves.every((move, axis) => move.source === axis && !move.flipped);
}

export function movedShape(shape: Shape3, moves: AxisMoves): Shape3 {
  return [shape[moves[0].source], shape[moves[1].source], shape[moves[2].source]];
}

/** `shape` is that before the move. */
export function movedAffine(affine: Affine, shape: Shape3, moves: AxisMoves): Affine {
  const moved = copyAffine(affine);
  moves.forEach(({ source, flipped }, axis) => {
    for (let row = 0; row < 3; ++row) {
      moved[row][axis] = flipped ? 0 - affine[row][source] : affine[row][source];
      if (flipped) moved[row][3] += affine[row][source] * (shape[source] - 1);
    }
  });
  return moved;
}

/** The grid itself where nothing has to move. */
export function moveAxes<T extends Float32Array | Uint8Array>(
  grid: Grid<T>,
  moves: AxisMoves,
): Grid<T> {
  if (isIdentity(moves)) return grid;
  const strides = denseStrides(grid.shape);
  const steps = moves.map(({ source, flipped }) => (flipped ? -strides[source] : strides[source]));
  let start = 0;
  for (const { source, flipped } of moves) {
    if (flipped) start += strides[source] * (grid.shape[source] - 1);
  }
  const shape = movedShape(grid.shape, moves);
  const values = emptyLike(grid.values, grid.values.length);
  copyStrided(grid.values, start, steps, shape, values);
  return { shape, affine: movedAffine(grid.affine, grid.shape, moves), values };
}

/** Rows of 32 at a time, so that neither side leaves its cache lines half used. */
function copyStrided(
  from: Float32Array | Uint8Array,
  start: number,
  steps: number[],
  shape: Shape3,
  to: Float32Array | Uint8Array,
): void {
  const tile = 32;
  for (let i = 0; i < shape[0]; ++i) {
    for (let k0 = 0; k0 < shape[2]; k0 += tile) {
      const end = Math.min(k0 + tile, shape[2]);
      for (let j = 0; j < shape[1]; ++j) {
        const source = start + i * steps[0] + j * steps[1];
        const result = (i * shape[1] + j) * shape[2];
        for (let k = k0; k < end; ++k) to[result + k] = from[source + k * steps[2]];
      }
    }
  }
}

export function toCanonical<T extends Float32Array | Uint8Array>(grid: Grid<T>): Grid<T> {
  return moveAxes(grid, movesTo(grid.affine, growing));
}
