// SPDX-License-Identifier: Apache-2.0
// Values on a regular grid with its place in the world. The last axis is fastest, as networks take
// volumes: (i, j, k) is (D, H, W). Files have the first axis fastest, which readers see to.
import type { Shape3 } from '../model';
import type { Affine } from './affine';

export interface Grid<T extends Float32Array | Uint8Array> {
  shape: Shape3;
  affine: Affine;
  values: T;
}

export type VolumeGrid = Grid<Float32Array>;
export type LabelGrid = Grid<Uint8Array>;

export function voxelCount(shape: Shape3): number {
  return shape[0] * shape[1] * shape[2];
}

/** Elements from one voxel to the next along each axis. */
export function denseStrides(shape: Shape3): Shape3 {
  return [shape[1] * shape[2], shape[2], 1];
}

/** An array of the same kind. */
export function emptyLike<T extends Float32Array | Uint8Array>(values: T, count: number): T {
  return (values instanceof Float32Array ? new Float32Array(count) : new Uint8Array(count)) as T;
}
