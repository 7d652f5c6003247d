// SPDX-License-Identifier: Apache-2.0
// A real BrainChop model, written by ubique and run by the page's own TensorFlow.js engine, against
// the labels that PyTorch gave for the whole scan. Only a block is computed, with all that its
// voxels see around it.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { sameLabels } from '../../segment/src/engines/check';
import type { Engine } from '../../segment/src/engines/engine';
import { type Box, copyBox, extentOf, voxelsOf } from '../../segment/src/engines/shape';
import { within } from '../../segment/src/engines/tiles';
import type { Shape3 } from '../../segment/src/model';
import { goldens, isThere, ubiqueBinary } from '../scans/ubique';
import { engineFor, exportTfjs, loaded } from './node-tfjs';
import { noiseVolume, toyModel } from './toy-network';

const shared = resolve(goldens, '../..');
const scan = join(shared, 'data/brainchop/t1_crop.nii.gz');
const model = join(shared, 'data/brainchop/models/model5_gw_ae');
const labels = join(goldens, 'brainchop/model5_gw_ae_argmax.nii.gz');
const complete =
  isThere(ubiqueBinary, 'ubique') && isThere(scan, 'the scan') && isThere(labels, 'its labels');

const WHOLE: Shape3 = [256, 256, 256];
const HALO = 46; // 1 + 2 + 4 + 8 + 16 + 8 + 4 + 2 + 1
const CORE: Box = { start: [120, 130, 32], end: [132, 142, 48] }; // grey, white and neither

/** The bytes of a NIfTI of 256^3 uint8, its first axis slowest: (i, j, k). */
function bytesOf(path: string): Uint8Array {
  const file = gunzipSync(readFileSync(path));
  const stored = file.subarray(352); // (k, j, i)
  const values = new Uint8Array(voxelsOf(WHOLE));
  const side = WHOLE[0];
  for (let k = 0, at = 0; k < side; ++k) {
    for (let j = 0; j < side; ++j) {
      for (let i = 0; i < side; ++i, ++at) values[(i * side + j) * side + k] = stored[at];
    }
  }
  return values;
}

function crop<T extends Float32Array | Uint8Array>(values: T, box: Box, into: T): T {
  copyBox(values, WHOLE, box, into, extentOf(box), [0, 0, 0]);
  return into;
}

describe.skipIf(!complete)('a BrainChop model written by ubique', () => {
  it(
    'loads in TensorFlow.js and gives the labels of the real scan',
    { timeout: 600_000 },
    async () => {
      const clamp = (value: number) => Math.min(WHOLE[0], Math.max(0, value));
      const input: Box = {
        start: CORE.start.map((at) => clamp(at - HALO)) as Shape3,
        end: CORE.end.map((at) => clamp(at + HALO)) as Shape3,
      };
      const shape = extentOf(input);
      const raw = crop(bytesOf(scan), input, new Uint8Array(voxelsOf(shape)));
      const engine = await engineFor(loaded(exportTfjs(model)));
      const given = await engine.labels({
        shape,
        values: Float32Array.from(raw, (byte) => byte / 255),
      });
      const size = voxelsOf(extentOf(CORE));
      const core = new Uint8Array(size);
      copyBox(given, shape, within({ core: CORE, input }), core, extentOf(CORE), [0, 0, 0]);
      const golden = crop(bytesOf(labels), CORE, new Uint8Array(size));
      expect(new Set(golden).size).toBe(3);
      expect(sameLabels(core, golden)).toBeGreaterThanOrEqual(0.9999);
    },
  );

  it('gives almost the same with weights of 16 bits', async () => {
    const { shape, values } = noiseVolume([20, 20, 20]);
    const volume = { shape, values: values.map(Math.abs) };
    const whole = exportTfjs(model);
    const half = exportTfjs(model, '--weights', 'f16');
    expect(half.weights.length).toBe(whole.weights.length / 2);
    const exact = await (await engineFor(loaded(whole))).labels(volume);
    const given = await (await engineFor(loaded(half))).labels(volume);
    expect(sameLabels(given, exact)).toBeGreaterThan(0.99);
  });
});

describe('a layers model', () => {
  it('takes volumes of other shapes than the one it was written for', async () => {
    const engine = await engineFor(toyModel());
    expect(await engine.labels(noiseVolume([5, 13, 6]))).toHaveLength(5 * 13 * 6);
  });

  it('normalises over the volume after a convolution whose name asks for it', async () => {
    const volume = noiseVolume([6, 6, 6]);
    const brighter = { ...volume, values: volume.values.map((value) => 3 * value) };
    const plain = await engineFor(toyModel());
    const normalised = await engineFor(toyModel('instance'));
    const apart = async (engine: Engine) => {
      const [a, b] = [await engine.logits(volume), await engine.logits(brighter)];
      return Math.max(...a.map((value, i) => Math.abs(value - b[i])));
    };
    expect(await apart(plain)).toBeGreaterThan(0.1);
    expect(await apart(normalised)).toBeLessThan(0.1); // borders are padded with zeros
  });

  it('frees all that it computed with', async () => {
    const engine = await engineFor(toyModel());
    await engine.labels(noiseVolume([6, 6, 6]));
    const before = tf.memory().numTensors;
    await engine.labels(noiseVolume([6, 6, 6]));
    await engine.logits(noiseVolume([6, 6, 6]));
    expect(tf.memory().numTensors).toBe(before);
  });
});
