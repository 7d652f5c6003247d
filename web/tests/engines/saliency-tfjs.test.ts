// SPDX-License-Identifier: Apache-2.0
// A saliency network that Keras wrote, exported by ubique as a layers model of stock layers and run
// by TensorFlow.js: Keras's own numbers come out, in f32 and nearly so in fewer bits.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-cpu';
import { type LayersModel, loadLayersModel } from '@tensorflow/tfjs-layers';
import { describe, expect, it } from 'vitest';
import {
  goldens, isThere, readSafetensors, scratchFolder, ubique, ubiqueBinary,
} from '../scans/ubique';

const folder = join(goldens, '../msinet/keras');
const weights = join(folder, 'subclassed_keras3.weights.h5');
const complete = isThere(ubiqueBinary, 'ubique') && isThere(weights, 'a network of Keras');

async function exported(model: string, ...options: string[]): Promise<LayersModel> {
  const out = join(scratchFolder(), 'model');
  ubique('export', 'msinet', '--model', model, '--format', 'tfjs', ...options, '-o', out);
  const text = readFileSync(join(out, 'model.json'), 'utf8');
  const { modelTopology, weightsManifest } = JSON.parse(text);
  const bytes = Uint8Array.from(readFileSync(join(out, weightsManifest[0].paths[0])));
  await tf.setBackend('cpu');
  return loadLayersModel({
    load: async () => ({
      modelTopology,
      weightSpecs: weightsManifest[0].weights,
      weightData: bytes.buffer,
    }),
  });
}

function largest(values: ArrayLike<number>): number {
  return Array.from(values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

/** Largest difference to what Keras's last layer gives, as a share of its largest value. */
function offFromKeras(model: LayersModel): number {
  const { tensors } = readSafetensors(join(folder, 'expected.safetensors'));
  const picture = tensors.get('image_uint8');
  const expected = tensors.get('decoder_half_pixel');
  if (!picture || !expected) throw new Error('the golden file lacks its picture or its numbers');
  const input = tf.tensor(Float32Array.from(picture.values), [1, ...picture.shape]);
  const got = (model.predict(input) as tf.Tensor).dataSync();
  expect(got.length).toBe(expected.values.length);
  return largest(got.map((value, i) => value - expected.values[i])) / largest(expected.values);
}

describe.skipIf(!complete)('a saliency network in TensorFlow.js', () => {
  it('computes what Keras computes', async () => {
    expect(offFromKeras(await exported(weights))).toBeLessThan(1e-5);
  });

  it('computes nearly that with weights in 16 and 8 bits', async () => {
    const half = await exported(weights, '--weights', 'f16');
    const small = await exported(weights, '--weights', 'uint8');
    expect(offFromKeras(half)).toBeLessThan(0.01);
    expect(offFromKeras(small)).toBeLessThan(0.3);
  });

  it('doubles maps in the way of TensorFlow 1 where the weights come from there', async () => {
    const npz = join(scratchFolder(), 'net.npz');
    ubique('convert', 'msinet', weights, '-o', npz);
    const model = await exported(npz);
    const at = model.layers.findIndex((layer) => layer.getClassName() === 'UpSampling2D');
    const [repeat, mean] = model.layers.slice(at, at + 2);
    expect(mean.getClassName()).toBe('AveragePooling2D');
    const x = tf.tensor([1, 3, 9, 5, 2, 4], [1, 2, 3, 1]);
    const doubled = tf.squeeze(mean.apply(repeat.apply(x)) as tf.Tensor).arraySync();
    expect(doubled).toEqual([
      [1, 2, 3, 6, 9, 9],
      [3, 2.75, 2.5, 4.5, 6.5, 6.5],
      [5, 3.5, 2, 3, 4, 4],
      [5, 3.5, 2, 3, 4, 4],
    ]);
  });
});
