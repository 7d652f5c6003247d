// SPDX-License-Identifier: Apache-2.0
// Whether maps are those that ubique computes. Knows nothing of who computed them.
import type { Manifest } from '../model';

// Of a map from 0 to 1. What is compared with has weights of 32 bits, whatever the file has.
const TOLERANCE: Record<Manifest['weights'], number> = { f32: 1e-3, f16: 2e-2 };
const STEP = 1 / 255; // of a picture's values

export function largestDifference(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return Infinity;
  let worst = 0;
  for (let i = 0; i < a.length; ++i) {
    const difference = Math.abs(a[i] - b[i]);
    if (!(difference <= worst)) worst = Number.isNaN(difference) ? Infinity : difference;
  }
  return worst;
}

/** An engine that is given ubique's own frame. */
export function engineAgrees(difference: number, { weights }: Manifest): boolean {
  return difference <= TOLERANCE[weights];
}

/** The whole way from a picture's file to its map: each pixel may be off by one step. */
export function pictureAgrees(difference: number, { weights }: Manifest): boolean {
  return difference <= STEP + 3 * TOLERANCE[weights];
}
