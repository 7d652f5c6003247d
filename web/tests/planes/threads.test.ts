// SPDX-License-Identifier: Apache-2.0
// The rolling-planes engine with helping threads: the same bits, and never a wait without end.
import { describe, expect, it } from 'vitest';
import { planLayout } from '../../segment/src/engines/planes/layout';
import { readNetwork } from '../../segment/src/engines/planes/network';
import { nodeEngine, nodePorts } from './node-engine';
import { type Recipe, randomModel, randomVolume } from './reference';

const recipe: Recipe = { channels: 5, classes: 4, dilations: [1, 4, 2], activation: 'gelu' };

describe('two and three threads', () => {
  it.each([2, 3])('%i give the same bits as one', async (threads) => {
    const model = randomModel(recipe, 1);
    const volume = randomVolume([13, 35, 18], 2);
    const one = await nodeEngine(model);
    const more = await nodeEngine(model, { threads });
    expect(more.title).toContain(`${threads} threads`);
    expect(await more.logits(volume)).toEqual(await one.logits(volume));
    expect(await more.labels(volume)).toEqual(await one.labels(volume));
    await more.dispose();
  });

  it('take run after run of different sizes', async () => {
    const model = randomModel(recipe, 3);
    const one = await nodeEngine(model);
    const two = await nodeEngine(model, { threads: 2 });
    for (const [i, depth] of [3, 20, 1, 7, 30, 2].entries()) {
      const volume = randomVolume([depth, 2 * depth, 9], i);
      expect(await two.labels(volume)).toEqual(await one.labels(volume));
    }
    await two.dispose();
  });
});

describe('the zeros in front of a plane', () => {
  // Rows of 37 voxels are computed to the 40th, and for 18 of them a plane fills its cache lines.
  const wide: Recipe = { channels: 5, classes: 3, dilations: [1, 2, 1, 2, 1, 2], activation: 'relu' };

  it('are there while another thread writes the plane before it', async () => {
    const model = randomModel(wide, 11);
    const volume = randomVolume([40, 18, 37], 12);
    const expected = await (await nodeEngine(model)).logits(volume);
    const two = await nodeEngine(model, { threads: 2 });
    for (let run = 0; run < 40; ++run) expect(await two.logits(volume)).toEqual(expected);
    await two.dispose();
  });

  it('are of no plane', () => {
    const layers = readNetwork(randomModel(wide, 13));
    if (typeof layers === 'string') throw new Error(layers);
    const { rings, dilations } = planLayout(layers, [40, 18, 37], 2);
    for (const [i, layer] of layers.entries()) {
      const own = layer.inputs * rings[i].channelBytes;
      const reach = layer.kernel === 3 ? dilations[i] : 0;
      expect(rings[i].planeBytes - own).toBeGreaterThanOrEqual(4 * reach);
    }
  });
});

describe('a thread that fails', () => {
  it('to start leaves the engine alone with the work', async () => {
    const ports = await nodePorts("throw new Error('not today');");
    const engine = await nodeEngine(randomModel(recipe, 4), { threads: 2, ports });
    expect(engine.title).toContain('one thread');
  });

  it('in the middle of a run rejects with its reason, and the next run is well', async () => {
    const breakOnce = `
      const { add } = Atomics;
      let left = 5;
      Atomics.add = (...all) => {
        if (--left === 0) throw new Error('a piece fell off');
        return add(...all);
      };
    `;
    const model = randomModel(recipe, 5);
    const ports = await nodePorts(breakOnce);
    const engine = await nodeEngine(model, { threads: 2, ports });
    const volume = randomVolume([40, 60, 50], 6);
    await expect(engine.labels(volume)).rejects.toThrow('A thread failed: a piece fell off');
    const one = await nodeEngine(model);
    expect(await engine.labels(volume)).toEqual(await one.labels(volume));
    await engine.dispose();
  });

  it('before its first step rejects, and so do later runs where it is gone', async () => {
    const dies = `
      const { postMessage } = self;
      self.postMessage = (message) =>
        message.kind === 'ready' ? process.exit(3) : postMessage(message);
    `;
    const ports = await nodePorts(dies);
    const engine = await nodeEngine(randomModel(recipe, 7), { threads: 2, ports });
    const volume = randomVolume([3, 3, 3], 8);
    await expect(engine.labels(volume)).rejects.toThrow('A thread failed: ended with 3');
    await expect(engine.labels(volume)).rejects.toThrow('make the engine anew');
  });
});

describe('an engine that was disposed of', () => {
  it('says so at once', async () => {
    const engine = await nodeEngine(randomModel(recipe, 9), { threads: 2 });
    await engine.dispose();
    await expect(engine.labels(randomVolume([3, 3, 3], 10))).rejects.toThrow('A thread is gone');
  });
});
