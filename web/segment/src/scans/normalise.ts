// SPDX-License-Identifier: Apache-2.0
// Intensities to the range a network was trained with, in place, over the whole volume, in f32.
import type { Preprocessing } from '../model';
import { check } from './scan-error';

const flat = Math.fround(1e-8); // ranges below this are no contrast
const halfWord = 65536;

interface Range {
  low: number;
  high: number;
}

function rangeOf(values: Float32Array): Range {
  let low = values[0];
  let high = values[0];
  for (let i = 1; i < values.length; ++i) {
    const value = values[i];
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { low, high };
}

/** (value - low) / range for every value, or zeros where the range is none. */
function rescale(values: Float32Array, low: number, range: number): void {
  if (!(range >= flat)) {
    values.fill(0);
    return;
  }
  for (let i = 0; i < values.length; ++i) values[i] = Math.fround(values[i] - low) / range;
}

/** Bits whose order as unsigned numbers is that of the values. */
function orderedBits(bits: number): number {
  const plain = bits === 0x80000000 ? 0 : bits; // -0 is 0
  return plain >>> 31 !== 0 ? ~plain >>> 0 : (plain | 0x80000000) >>> 0;
}

function valueOfBits(bits: number): number {
  const pattern = new Uint32Array([bits >>> 31 !== 0 ? bits & 0x7fffffff : ~bits]);
  return new Float32Array(pattern.buffer)[0];
}

interface Place {
  bin: number;
  rank: number; // within the bin
}

function placeIn(bins: Uint32Array, rank: number): Place {
  let bin = 0;
  while (rank >= bins[bin]) rank -= bins[bin++];
  return { bin, rank };
}

/** The value that sorting would put at `rank`: by the upper halves of all values, then by the lower
 * halves of those that share its upper one. Nothing is copied. */
function valueAtRank(patterns: Uint32Array, upper: Uint32Array, rank: number): number {
  const place = placeIn(upper, rank);
  const lower = new Uint32Array(halfWord);
  for (let i = 0; i < patterns.length; ++i) {
    const bits = orderedBits(patterns[i]);
    if (bits >>> 16 === place.bin) ++lower[bits & 0xffff];
  }
  const within = placeIn(lower, place.rank);
  return valueOfBits(((place.bin << 16) | within.bin) >>> 0);
}

function quantilesOf(values: Float32Array, low: number, high: number): Range {
  const patterns = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const upper = new Uint32Array(halfWord);
  for (let i = 0; i < patterns.length; ++i) ++upper[orderedBits(patterns[i]) >>> 16];
  const first = Math.min(values.length - 1, Math.floor(low * values.length));
  const last = Math.max(0, Math.ceil(high * values.length) - 1);
  return {
    low: valueAtRank(patterns, upper, first),
    high: valueAtRank(patterns, upper, last),
  };
}

function normaliseQuantile(values: Float32Array, low: number, high: number): void {
  const bounds = quantilesOf(values, low, high);
  const whole = rangeOf(values);
  const range = Math.fround(bounds.high - bounds.low);
  check(
    range >= flat || Math.fround(whole.high - whole.low) < flat,
    () =>
      `The scan is nearly all of one value: ${bounds.low} at the quantiles ${low} and ${high}, ` +
      `but values from ${whole.low} to ${whole.high}. Crop its background and try again.`,
  );
  rescale(values, bounds.low, range);
}

function normaliseZScore(values: Float32Array): void {
  let sum = 0;
  for (let i = 0; i < values.length; ++i) sum += values[i];
  const mean = sum / values.length;
  let squares = 0;
  for (let i = 0; i < values.length; ++i) squares += (values[i] - mean) * (values[i] - mean);
  rescale(values, Math.fround(mean), Math.fround(Math.sqrt(squares / values.length)));
}

export function normalise(values: Float32Array, how: Preprocessing): void {
  switch (how.normalization) {
    case 'none':
      return;
    case 'quantile':
      return normaliseQuantile(values, how.low_quantile, how.high_quantile);
    case 'z_score':
      return normaliseZScore(values);
    case 'min_max': {
      const { low, high } = rangeOf(values);
      return rescale(values, low, Math.fround(high - low));
    }
  }
}
