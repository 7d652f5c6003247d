// SPDX-License-Identifier: Apache-2.0
// Colours, lines and marks of maps; that whole overlays are ubique's is tested in the browser.
import { describe, expect, test } from 'vitest';
import { type Pixels, measured } from '../../saliency/src/images/raster';
import { drawContour } from '../../saliency/src/looks/contours';
import { type Style, drawMap, drawOverlay, greyPicture } from '../../saliency/src/looks/heatmap';
import { paletteColour, paletteNames, paletteTable } from '../../saliency/src/looks/palettes';
import { findPeaks } from '../../saliency/src/looks/peaks';

/** A hill at (30, 20) of 64 x 48, falling evenly with the distance. */
const hill = measured({
  width: 64,
  height: 48,
  values: Float32Array.from({ length: 64 * 48 }, (_, i) =>
    -Math.hypot((i % 64) - 30, Math.floor(i / 64) - 20),
  ),
});

function flat(level: number): Pixels {
  return { width: 64, height: 48, data: new Uint8ClampedArray(4 * 64 * 48).fill(level) };
}

function pixelOf({ width, data }: Pixels, x: number, y: number): number[] {
  return [...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3)];
}

const plain: Style = { palette: 'inferno', alpha: 0.5, contours: [], peaks: 0 };

describe('palettes', () => {
  test('have the colours of ubique', () => {
    expect(paletteColour('inferno', 0)).toEqual([2, 2, 8]);
    expect(paletteColour('inferno', 0.25)).toEqual([80, 19, 98]);
    expect(paletteColour('viridis', 1)).toEqual([250, 230, 40]);
    expect(paletteColour('jet', 0)).toEqual([0, 0, 128]);
    expect(paletteColour('jet', 0.5)).toEqual([128, 255, 128]);
    expect(paletteColour('jet', 1)).toEqual([128, 0, 0]);
    expect(paletteColour('grey', 7)).toEqual([255, 255, 255]);
    expect(paletteColour('grey', Number.NaN)).toEqual([0, 0, 0]);
  });

  test('but for jet grow brighter from end to end', () => {
    for (const name of paletteNames.filter((each) => each !== 'jet')) {
      const table = paletteTable(name);
      const bright = (i: number) =>
        0.2126 * table[3 * i] + 0.7152 * table[3 * i + 1] + 0.0722 * table[3 * i + 2];
      for (let i = 8; i < 256; i += 8) expect(bright(i)).toBeGreaterThan(bright(i - 8));
    }
  });
});

describe('a map', () => {
  test('has the first colour at its lowest and the last at its highest', () => {
    const pixels = drawMap(hill, { ...plain, palette: 'viridis' });
    expect(pixelOf(pixels, 30, 20)).toEqual([250, 230, 40]);
    expect(pixelOf(pixels, 63, 47)).toEqual([66, 6, 88]);
  });

  test('fades over the picture, which stays as it was', () => {
    const picture = flat(100);
    const pixels = drawOverlay(picture, hill, plain);
    expect(pixelOf(pixels, 30, 20)).toEqual([176, 176, 135]);
    expect(pixelOf(pixels, 63, 47)).toEqual([100, 100, 100]);
    expect(pixelOf(picture, 30, 20)).toEqual([100, 100, 100]);
  });

  test('that is even is all lowest, without lines and marks', () => {
    const even = measured({ width: 64, height: 48, values: new Float32Array(64 * 48).fill(5) });
    const pixels = drawOverlay(flat(100), even, { ...plain, contours: [0.5], peaks: 3 });
    expect(new Set(pixels.data)).toEqual(new Set([100, 255]));
  });

  test('as grey is rounded to whole values', () => {
    const values = new Float32Array([0.4, 0.5, 1.5, 300]);
    const { data } = greyPicture({ width: 4, height: 1, values });
    expect([data[0], data[4], data[8], data[12]]).toEqual([0, 0, 2, 255]);
  });

  test('has a closed circle as the contour of a round hill', () => {
    const pixels = flat(0);
    drawContour(pixels, hill, -10, [255, 255, 255]);
    for (let degrees = 0; degrees < 360; degrees += 5) {
      const turn = (degrees * Math.PI) / 180;
      const at = (radius: number) =>
        pixelOf(
          pixels,
          Math.round(30 + radius * Math.cos(turn)),
          Math.round(20 + radius * Math.sin(turn)),
        );
      expect(at(10)[0]).toBeGreaterThan(40);
      expect(at(5)[0]).toBe(0);
      expect(at(15)[0]).toBe(0);
    }
  });

  test('has its first places apart from each other', () => {
    const peaks = findPeaks(hill, 3, 10);
    expect(peaks[0]).toMatchObject({ x: 30, y: 20, value: -0 });
    for (const { x, y } of peaks.slice(1)) expect(Math.hypot(x - 30, y - 20)).toBeGreaterThan(10);
    expect(findPeaks(hill, 100, 1000)).toHaveLength(1);
  });
});
