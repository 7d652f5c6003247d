// SPDX-License-Identifier: Apache-2.0
// Resizing: per output row the weighted sum of its source rows, which runs along memory, then its
// columns. Can stop at a window of the result, so that nothing is made to be cut away.
import type { Size } from '../model';
import { type Method, type Taps, axisTaps } from './taps';

export interface Source {
  width: number;
  height: number;
  stride: number; // values from one pixel to the next
  channels: number; // that count, the first ones
  values: Float32Array | Uint8ClampedArray;
}

export interface Window {
  top: number;
  left: number;
  height: number;
  width: number;
}

function sumRows({ width, stride, channels, values }: Source, taps: Taps, out: Float32Array): void {
  out.fill(0);
  taps.weights.forEach((weight, k) => {
    let from = (taps.first + k) * width * stride;
    for (let to = 0; to < out.length; from += stride) {
      for (let c = 0; c < channels; ++c) out[to++] += weight * values[from + c];
    }
  });
}

function sumColumns(
  row: Float32Array,
  columns: Taps[],
  channels: number,
  out: Float32Array,
  at: number,
): void {
  let to = at;
  for (const { first, weights } of columns) {
    for (let c = 0; c < channels; ++c) {
      let sum = 0;
      let from = first * channels + c;
      for (let k = 0; k < weights.length; ++k, from += channels) sum += weights[k] * row[from];
      out[to++] = sum;
    }
  }
}

/** A window of the source at that size; values (H, W, channels). */
export function resize(
  source: Source,
  [height, width]: Size,
  method: Method,
  window: Window = { top: 0, left: 0, height, width },
): Float32Array {
  const { channels } = source;
  const rows = axisTaps(source.height, height, method, window.top, window.top + window.height);
  const columns = axisTaps(source.width, width, method, window.left, window.left + window.width);
  const out = new Float32Array(window.height * window.width * channels);
  const mixed = new Float32Array(source.width * channels);
  rows.forEach((taps, y) => {
    sumRows(source, taps, mixed);
    sumColumns(mixed, columns, channels, out, y * window.width * channels);
  });
  return out;
}
