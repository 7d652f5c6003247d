// SPDX-License-Identifier: Apache-2.0
// The places where a viewer would look first: finding them, and marking them with numbered rings as
// `ubique run --peaks` does.
import type { MeasuredMap, Pixels } from '../images/raster';
import { blendPixel } from './blend';
import type { Colour } from './palettes';

export interface Peak {
  x: number;
  y: number;
  value: number;
}

const white: Colour = [255, 255, 255];
const dark: Colour = [20, 20, 20];

/** Three columns and five rows of a digit, the top row in the highest bits. */
const digits = [
  0b111101101101111, 0b010110010010111, 0b111001111100111, 0b111001111001111, 0b101101111001001,
  0b111100111001111, 0b111100111101111, 0b111001001001001, 0b111101111101111, 0b111101111001111,
];

function highest(values: Float32Array): number {
  let best = 0;
  for (let i = 1; i < values.length; ++i) if (values[i] > values[best]) best = i;
  return best;
}

/** The highest pixel, then the highest outside of a disc around it, and so on: fewer than `count`
 * where nothing above the map's minimum is left. */
export function findPeaks(map: MeasuredMap, count: number, radius = 0): Peak[] {
  const { width, height } = map;
  const reach = radius > 0 ? radius : Math.max(width, height) / 8;
  const whole = Math.trunc(reach);
  const left = map.values.slice();
  const peaks: Peak[] = [];
  while (peaks.length < count) {
    const place = highest(left);
    if (!(left[place] > map.min)) break;
    const peak = { x: place % width, y: Math.floor(place / width), value: left[place] };
    peaks.push(peak);
    for (let y = Math.max(0, peak.y - whole); y <= Math.min(height - 1, peak.y + whole); ++y) {
      for (let x = Math.max(0, peak.x - whole); x <= Math.min(width - 1, peak.x + whole); ++x) {
        if (Math.hypot(x - peak.x, y - peak.y) <= reach) left[y * width + x] = -Infinity;
      }
    }
  }
  return peaks;
}

function drawNumber(pixels: Pixels, number: number, x: number, y: number, size: number): void {
  const text = String(number);
  let left = x - Math.trunc(((text.length * 4 - 1) * size) / 2);
  const top = y - Math.trunc((5 * size) / 2);
  for (const digit of text) {
    for (let i = 0; i < 15 * size * size; ++i) {
      const column = i % (3 * size);
      const row = Math.floor(i / (3 * size));
      const bit = 14 - (Math.floor(row / size) * 3 + Math.floor(column / size));
      const filled = (digits[Number(digit)] >> bit) & 1;
      if (filled) blendPixel(pixels, left + column, top + row, white, 1);
    }
    left += 4 * size;
  }
}

const clamp01 = (value: number) => Math.min(Math.max(value, 0), 1);

export function drawPeaks(pixels: Pixels, peaks: readonly Peak[]): void {
  const size = Math.max(1, Math.floor(Math.max(pixels.width, pixels.height) / 320));
  const radius = 6 * size;
  const reach = radius + 2;
  peaks.forEach(({ x, y }, i) => {
    for (let dy = -reach; dy <= reach; ++dy) {
      for (let dx = -reach; dx <= reach; ++dx) {
        const away = Math.hypot(dx, dy);
        const ring = clamp01(size + 0.5 - Math.abs(away - radius));
        blendPixel(pixels, x + dx, y + dy, dark, 0.7 * clamp01(radius + 0.5 - away));
        blendPixel(pixels, x + dx, y + dy, white, ring);
      }
    }
    drawNumber(pixels, i + 1, x, y, size);
  });
}
