// SPDX-License-Identifier: Apache-2.0
// Which source rows (or columns) make an output row, and with which weights: TensorFlow 1's area
// and bicubic resizing with its corners aligned, which the networks were trained with. Places are
// computed in 32 bits as there: where they fall on a pixel's edge, 64 would choose a neighbour.

export type Method = 'area' | 'bicubic';

const STEPS = 1024; // of a bicubic kernel between two pixels
const float = Math.fround;

/** Keys' kernel with a = -0.75 at distance x: of the two inner and the two outer neighbours. */
const innerWeight = (x: number) => float((1.25 * x - 2.25) * x * x + 1);
const outerWeight = (x: number) => float(((-0.75 * (x + 1) + 3.75) * (x + 1) - 6) * (x + 1) + 3);

/** Output i is the sum of source first + k times weights[k], all within the source. */
export interface Taps {
  first: number;
  weights: Float32Array;
}

/** Taps beyond the edge count for the edge pixel. */
function within(from: number, weights: readonly number[], length: number): Taps {
  const clamp = (place: number) => Math.min(Math.max(place, 0), length - 1);
  const first = clamp(from);
  const last = Math.max(clamp(from + weights.length - 1), first);
  const kept = new Float32Array(last - first + 1);
  weights.forEach((weight, k) => {
    kept[Math.min(Math.max(from + k, first), last) - first] += weight;
  });
  return { first, weights: kept };
}

function areaTaps(i: number, scale: number, length: number): Taps {
  if (scale <= 0) return within(0, [1], length); // one source pixel, several outputs
  const begin = float(i * scale);
  const end = float((i + 1) * scale);
  const from = Math.floor(begin);
  const weights: number[] = [];
  for (let k = from; k < Math.ceil(end); ++k) {
    weights.push(float(float(Math.min(k + 1, end) - Math.max(k, begin)) / scale));
  }
  return within(from, weights, length);
}

export function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}

function bicubicTaps(i: number, scale: number, length: number): Taps {
  const place = float(i * scale);
  const below = Math.floor(place);
  const x = roundHalfEven(float(float(place - below) * STEPS)) / STEPS;
  const weights = [outerWeight(x), innerWeight(x), innerWeight(1 - x), outerWeight(1 - x)];
  return within(below - 1, weights, length);
}

/** For the outputs begin to end of an axis that goes from `from` pixels to `to`. */
export function axisTaps(
  from: number,
  to: number,
  method: Method,
  begin: number,
  end: number,
): Taps[] {
  const scale = to > 1 ? float((from - 1) / (to - 1)) : float(from / to);
  const of = method === 'area' ? areaTaps : bicubicTaps;
  return Array.from({ length: end - begin }, (_, i) => of(begin + i, scale, from));
}
