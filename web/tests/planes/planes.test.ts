// SPDX-License-Identifier: Apache-2.0
// The rolling-planes engine against the definition of the network.
import { describe, expect, it, vi } from 'vitest';
import type { LoadedModel, Progress, Volume } from '../../segment/src/engines/engine';
import { argmax } from '../../segment/src/engines/argmax';
import { blocksOf, readNetwork } from '../../segment/src/engines/planes/network';
import type { Manifest, Shape3 } from '../../segment/src/model';
import { fusedIsThere, nodeEngine } from './node-engine';
import { type Recipe, randomModel, randomVolume, referenceLogits } from './reference';

const usual: Recipe = { channels: 5, classes: 7, dilations: [1, 2, 4, 2], activation: 'relu' };
const forms = ['plain', 'fused'] as const;

async function expectLogits(model: LoadedModel, volume: Volume, form: 'plain' | 'fused') {
  const engine = await nodeEngine(model, { form });
  const logits = await engine.logits(volume);
  const expected = referenceLogits(model, volume);
  expect(logits.length).toBe(expected.length);
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  let worst = 0;
  for (const [i, value] of expected.entries()) worst = Math.max(worst, Math.abs(logits[i] - value));
  expect(worst / largest).toBeLessThan(3e-6);
}

for (const form of forms) {
  const missing = form === 'fused' && !(await fusedIsThere());
  describe.skipIf(missing)(`logits of the ${form} kernel are those of the definition`, () => {
    const shapes: Shape3[] = [
      [1, 1, 1], [7, 5, 9], [3, 13, 2], [11, 1, 17], [1, 6, 33], [9, 18, 8],
    ];
    it.each(shapes)('for a volume of %i x %i x %i', async (...shape) => {
      await expectLogits(randomModel(usual, 1), randomVolume(shape, 2), form);
    });

    it.each([1, 3, 5, 26])('with %i channels', async (channels) => {
      const recipe = { ...usual, channels, dilations: [1, 2] };
      await expectLogits(randomModel(recipe, 3), randomVolume([5, 6, 7], 4), form);
    });

    it.each([2, 7, 50])('with %i classes', async (classes) => {
      await expectLogits(randomModel({ ...usual, classes }, 5), randomVolume([4, 6, 11], 6), form);
    });

    it.each(['relu', 'elu', 'gelu', 'gelu_tanh'] as const)('with %s', async (activation) => {
      const volume = randomVolume([6, 7, 10], 8);
      volume.values = volume.values.map((value) => 12 * value); // far into the tails
      await expectLogits(randomModel({ ...usual, activation }, 7), volume, form);
    });

    it.each([5, 26])('with %i channels in rows of several tiles', async (channels) => {
      const recipe = { ...usual, channels, dilations: [2, 5] };
      await expectLogits(randomModel(recipe, 8), randomVolume([2, 21, 205], 9), form);
    });

    it('with dilations that reach past every side', async () => {
      const recipe = { ...usual, dilations: [1, 16, 8, 16, 3] };
      await expectLogits(randomModel(recipe, 9), randomVolume([10, 9, 12], 10), form);
      await expectLogits(randomModel(recipe, 9), randomVolume([19, 35, 21], 11), form);
    });
  });
}

describe('labels', () => {
  it('are the first of the largest logits', async () => {
    const engine = await nodeEngine(randomModel(usual, 12));
    const volume = randomVolume([9, 10, 13], 13);
    expect(await engine.labels(volume)).toEqual(argmax(await engine.logits(volume), 7));
  });

  it('are the first where classes are equal', async () => {
    const model = randomModel({ ...usual, classes: 3 }, 14);
    const weights = new Float32Array(model.tfjs.weights.buffer);
    const last = weights.subarray(weights.length - 18); // (5, 3) and 3 biases
    for (let row = 0; row < 6; ++row) {
      last[3 * row + 2] = last[3 * row + 1]; // classes 1 and 2 are the same
      last[3 * row] = row === 5 ? -1000 : 0; // and 0 is never taken
    }
    const engine = await nodeEngine(model);
    const labels = await engine.labels(randomVolume([3, 4, 5], 15));
    expect(new Set(labels)).toEqual(new Set([1]));
  });

  it('are the same after runs on other shapes, smaller and larger', async () => {
    const engine = await nodeEngine(randomModel(usual, 16));
    const volume = randomVolume([8, 9, 10], 17);
    const first = await engine.logits(volume);
    await engine.labels(randomVolume([20, 40, 30], 18));
    await engine.labels(randomVolume([2, 3, 4], 19));
    expect(await engine.logits(volume)).toEqual(first);
  });

  it('asked for twice at once come one after the other', async () => {
    const engine = await nodeEngine(randomModel(usual, 20));
    const [a, b] = [randomVolume([6, 7, 8], 21), randomVolume([7, 6, 5], 22)];
    const together = await Promise.all([engine.labels(a), engine.labels(b)]);
    expect(together).toEqual([await engine.labels(a), await engine.labels(b)]);
  });

  it('come with progress that rises to the depth', async () => {
    const engine = await nodeEngine(randomModel(usual, 23));
    const heard: Progress[] = [];
    await engine.labels(randomVolume([12, 4, 4], 24), { onProgress: (p) => heard.push(p) });
    const done = heard.map((progress) => progress.done);
    expect(done).toEqual([...done].sort((a, b) => a - b));
    expect(heard.at(-1)).toEqual({ done: 12, total: 12, what: 'plane' });
  });
});

describe('bad input', () => {
  it('of values that are not numbers is told, and the next volume is computed', async () => {
    const engine = await nodeEngine(randomModel(usual, 25));
    const volume = randomVolume([5, 5, 5], 26);
    const good = await engine.labels(volume);
    const bad = { shape: volume.shape, values: volume.values.slice().fill(NaN) };
    await expect(engine.labels(bad)).rejects.toThrow('not numbers');
    expect(await engine.labels(volume)).toEqual(good);
  });

  it('of the wrong size is told', async () => {
    const engine = await nodeEngine(randomModel(usual, 27));
    const volume: Volume = { shape: [2, 3, 4], values: new Float32Array(23) };
    await expect(engine.labels(volume)).rejects.toThrow('2x3x4 voxels cannot have 23 values');
  });

  it('of volumes beyond 4 GB of memory counts as infinitely large', async () => {
    const engine = await nodeEngine(randomModel({ ...usual, channels: 26 }, 28));
    expect(engine.peakBytes([64, 1024, 1024])).toBeLessThan(4 * 2 ** 30);
    expect(engine.peakBytes([64, 4096, 4096])).toBe(Infinity);
  });

  it('of volumes for which the browser has no memory is told with the need', async () => {
    const engine = await nodeEngine(randomModel(usual, 28));
    const memory = vi.spyOn(WebAssembly, 'Memory').mockImplementation(function () {
      throw new RangeError('could not allocate');
    });
    const run = engine.labels(randomVolume([40, 80, 80], 28));
    await expect(run).rejects.toThrow(
      /Out of memory: 40x80x80 voxels need 0\.0\d GB of WebAssembly memory.*could not allocate/,
    );
    memory.mockRestore();
  });

  const changed = (change: Partial<Manifest>) => {
    const model = randomModel(usual, 29);
    return readNetwork({ ...model, manifest: { ...model.manifest, ...change } });
  };
  it('of networks that cannot be streamed is refused with the reason', () => {
    expect(changed({ norm: 'instance' })).toMatch('needs whole volumes');
    expect(changed({ in_channels: 2 })).toMatch('one input channel');
    expect(changed({ classes: 300 })).toMatch('at most 256 labels');
  });

  it('of weights that do not fit the manifest is refused with the reason', () => {
    const model = randomModel(usual, 30);
    const other = randomModel({ ...usual, channels: 4 }, 30);
    expect(readNetwork({ ...model, tfjs: other.tfjs })).toMatch('3x3x3x1x4, expected 3x3x3x1x5');
    const short = { ...model.tfjs, weights: model.tfjs.weights.slice(0, -4) };
    expect(readNetwork({ ...model, tfjs: short })).toMatch('too short');
  });
});

describe('memory', () => {
  const meshnet = (channels: number, classes: number): Recipe => ({
    channels,
    classes,
    dilations: [1, 2, 4, 8, 16, 16, 8, 4, 2],
    activation: 'relu',
  });
  it('of MeshNet-5 at 256^3 is under 0.26 GB, of MeshNet-26 under 1.1 GB', async () => {
    const five = await nodeEngine(randomModel(meshnet(5, 7), 31));
    expect(five.peakBytes([256, 256, 256])).toBeLessThan(0.26e9);
    const large = await nodeEngine(randomModel(meshnet(26, 2), 31));
    expect(large.peakBytes([256, 256, 256])).toBeLessThan(1.1e9);
  });

  it('grows with the planes, hardly with their number', async () => {
    const engine = await nodeEngine(randomModel(meshnet(5, 7), 32));
    const added = engine.peakBytes([600, 64, 64]) - engine.peakBytes([500, 64, 64]);
    expect(added).toBe(100 * 64 * 64); // the labels themselves
  });
});

describe('blocks of outputs', () => {
  it('are at most six channels, as even as can be', () => {
    expect(blocksOf(1)).toEqual([1]);
    expect(blocksOf(6)).toEqual([6]);
    expect(blocksOf(7)).toEqual([4, 3]);
    expect(blocksOf(26)).toEqual([6, 5, 5, 5, 5]);
    for (let n = 1; n <= 256; ++n) expect(blocksOf(n).reduce((a, b) => a + b)).toBe(n);
  });
});
