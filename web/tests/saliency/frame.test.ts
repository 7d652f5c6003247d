// SPDX-License-Identifier: Apache-2.0
// Pictures come into frames, and maps back to pictures, as in ubique and in TensorFlow.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { largestDifference } from '../../saliency/src/engines/check';
import { fitAround, fitInside, prepare, restore } from '../../saliency/src/images/frame';
import { resize } from '../../saliency/src/images/resize';
import type { Method } from '../../saliency/src/images/taps';
import type { Manifest, Size } from '../../saliency/src/model';
import { type Tensor, isThere, readSafetensors } from '../scans/ubique';
import { readPng } from './png';

const goldens = resolve(import.meta.dirname, '../../../../shared/golden/msinet/preprocess');
const pageFolder = process.env.UBIQUE_WEB_SALIENCY ?? '';

/** RGB or grey values as a canvas would have them. */
function rgba({ shape, values }: Tensor) {
  const [height, width, channels = 1] = shape;
  const data = new Uint8ClampedArray(4 * height * width).fill(255);
  for (let i = 0; i < height * width; ++i) {
    for (let c = 0; c < 3; ++c) data[4 * i + c] = values[i * channels + (channels < 3 ? 0 : c)];
  }
  return { width, height, data };
}

/** (H, W, 3) from (3, H, W). */
function interleaved(planes: Float32Array, channels: number): Float32Array {
  const area = planes.length / 3;
  return Float32Array.from({ length: area * channels }, (_, i) =>
    planes[(i % channels) * area + Math.floor(i / channels)],
  );
}

interface Cases {
  raw_resize: { key: string; method: Method; out: Size }[];
  preprocess: { key: string; target: Size; resized: Size; pad_top_left: Size; pad_value: number }[];
  postprocess: { key: string; map: Size; original: Size; resized: Size; crop_top_left: Size }[];
}

describe.skipIf(!isThere(goldens, "TensorFlow's own results"))("TensorFlow's numbers", () => {
  let cases: Cases;
  let tensors: Map<string, Tensor>;
  beforeAll(() => {
    cases = JSON.parse(readFileSync(join(goldens, 'preprocess.json'), 'utf8')) as Cases;
    ({ tensors } = readSafetensors(join(goldens, 'preprocess.safetensors')));
  });
  const tensor = (name: string) => {
    const found = tensors.get(name);
    if (!found) throw new Error(`no tensor ${name}`);
    return found;
  };
  const floats = (name: string) => tensor(name).values as Float32Array;

  test('come from resizing by area and by bicubic kernels', () => {
    expect(cases.raw_resize.length).toBeGreaterThan(2);
    for (const { key, method, out } of cases.raw_resize) {
      const { shape, values } = tensor(`${key}/in_uint8`);
      const [height, width, channels = 1] = shape;
      const bytes = new Uint8ClampedArray(values);
      const source = { width, height, stride: channels, channels, values: bytes };
      const difference = largestDifference(resize(source, out, method), floats(`${key}/out`));
      expect(difference, key).toBeLessThan(2e-4);
    }
  });

  test('come from bringing pictures into frames', () => {
    expect(cases.preprocess.length).toBeGreaterThan(2);
    for (const { key, target, resized, pad_top_left: place, pad_value } of cases.preprocess) {
      const given = tensor(`${key}/in_uint8`);
      const found = fitInside([given.shape[0], given.shape[1]], target);
      expect([found.size, [found.top, found.left]], key).toEqual([resized.slice(0, 2), place]);
      const frame = prepare(rgba(given), target, pad_value);
      const channels = given.shape[2] ?? 1;
      const difference = largestDifference(interleaved(frame, channels), floats(`${key}/out`));
      expect(difference, key).toBeLessThan(2e-4);
    }
  });

  test('come from bringing maps back to pictures', () => {
    expect(cases.postprocess.length).toBeGreaterThan(2);
    for (const { key, map, original, resized, crop_top_left: place } of cases.postprocess) {
      const found = fitAround(map, original);
      expect([found.size, [found.top, found.left]], key).toEqual([resized, place]);
      const values = floats(`${key}/map`);
      const whole = restore({ height: map[0], width: map[1], values }, original);
      expect(largestDifference(whole.values, floats(`${key}/cropped`)), key).toBeLessThan(2e-4);
    }
  });
});

describe.skipIf(!existsSync(pageFolder))("an exported model's picture", () => {
  const models = join(pageFolder, 'models');

  test("has ubique's frame and ubique's map", () => {
    const [name] = readdirSync(models).filter((entry) => entry !== 'index.json');
    const text = readFileSync(join(models, name, 'ubique.json'), 'utf8');
    const { picture, pad } = JSON.parse(text) as Manifest;
    const values = new Float32Array(
      new Uint8Array(readFileSync(join(models, name, picture.values))).buffer,
    );
    const [height, width] = picture.frame;
    const area = height * width;
    const pixels = readPng(join(models, name, picture.file));
    const frame = prepare(pixels, picture.frame, pad);
    expect(largestDifference(frame, values.subarray(0, 3 * area))).toBeLessThan(1e-3);
    const map = { height, width, values: values.subarray(3 * area, 4 * area) };
    const whole = restore(map, picture.size);
    expect(largestDifference(whole.values, values.subarray(4 * area))).toBeLessThan(1e-3);
  });
});

describe('pictures', () => {
  test('of one pixel fill a frame, and strips keep a pixel', () => {
    const pixel = { width: 1, height: 1, data: new Uint8ClampedArray([5, 6, 7, 255]) };
    const frame = prepare(pixel, [2, 2], 126);
    expect([...frame]).toEqual([5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7]);
    expect(fitInside([1, 1000], [240, 320]).size).toEqual([1, 320]);
  });

  test('of another shape are padded, with the odd pixel below', () => {
    const data = new Uint8ClampedArray(4 * 4 * 1).fill(200);
    const frame = prepare({ width: 4, height: 1, data }, [4, 4], 126);
    const rows = [0, 1, 2, 3].map((y) => frame[4 * y]);
    expect(rows).toEqual([126, 200, 126, 126]);
  });

  test('of a panorama get their part of the map without the rest being made', () => {
    const values = Float32Array.from({ length: 48 * 64 }, (_, i) => (i % 64) / 64);
    const whole = restore({ height: 48, width: 64, values }, [10, 30000]);
    expect(whole.values.length).toBe(300000);
    expect(whole.values[0]).toBeLessThan(1);
    expect(whole.values[29999]).toBeGreaterThan(250);
  });
});
