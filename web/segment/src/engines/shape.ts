// SPDX-License-Identifier: Apache-2.0
// Small sums over shapes and boxes of voxels, the last axis fastest.
import type { Shape3 } from '../model';

export function voxelsOf(shape: Shape3): number {
  return shape[0] * shape[1] * shape[2];
}

/** The half-open box [start, end) of a volume. */
export interface Box {
  start: Shape3;
  end: Shape3;
}

export function extentOf(box: Box): Shape3 {
  return [box.end[0] - box.start[0], box.end[1] - box.start[1], box.end[2] - box.start[2]];
}

type Values = Float32Array | Uint8Array;

/** Copies a box of `source` to `target` at `at`, row by row. */
export function copyBox<T extends Values>(
  source: T,
  sourceShape: Shape3,
  box: Box,
  target: T,
  targetShape: Shape3,
  at: Shape3,
): void {
  const [depth, height, width] = extentOf(box);
  for (let z = 0; z < depth; ++z) {
    for (let y = 0; y < height; ++y) {
      const from =
        ((box.start[0] + z) * sourceShape[1] + box.start[1] + y) * sourceShape[2] + box.start[2];
      const to = ((at[0] + z) * targetShape[1] + at[1] + y) * targetShape[2] + at[2];
      target.set(source.subarray(from, from + width), to);
    }
  }
}
