// SPDX-License-Identifier: Apache-2.0
// Pictures and maps in memory, rows from the top.

/** As a canvas gives it: red, green, blue, opacity; opacity counts for nothing here. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

/** One value for each place. */
export interface SaliencyMap {
  readonly width: number;
  readonly height: number;
  readonly values: Float32Array;
}

/** A map with what nearly everybody asks of it. */
export interface MeasuredMap extends SaliencyMap {
  readonly min: number;
  readonly max: number;
  readonly sum: number;
}

export function measured(map: SaliencyMap): MeasuredMap {
  let min = Infinity;
  let max = -Infinity;
  let sum = 0;
  for (const value of map.values) {
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
  }
  return { ...map, min, max, sum };
}

/** Where a value stands between the map's lowest and highest; 0 in an even map. */
export function shareOf({ min, max }: MeasuredMap, value: number): number {
  return max > min ? (value - min) / (max - min) : 0;
}
