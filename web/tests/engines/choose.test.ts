// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChooseOptions } from '../../segment/src/engines/choice';
import { type Ranking, chooseEngine } from '../../segment/src/engines/choose';
import type { EngineId } from '../../segment/src/engines/engine';
import type { Shape3 } from '../../segment/src/model';
import { FakeHost, type Part } from './fake-host';
import { toyModel } from './toy-network';

const NOTHING: Part = { unavailable: 'this browser has none' };
const SHAPE: Shape3 = [128, 128, 128];
let hosts: Partial<Record<EngineId, FakeHost>>;

/** Chooses among the parts given; the other engines are unavailable. */
async function choose(
  parts: Partial<Record<EngineId, Part>>,
  options: ChooseOptions = {},
): Promise<Ranking> {
  hosts = {};
  const open = (id: EngineId) => (hosts[id] = new FakeHost(parts[id] ?? NOTHING));
  const chosen = chooseEngine(toyModel(), SHAPE, options, open);
  chosen.catch(() => undefined);
  await vi.runAllTimersAsync();
  return chosen;
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('the choice of an engine', () => {
  it('takes the fastest of those that agree and says so', async () => {
    const { choice, ranked } = await choose({
      'ort-webgpu': { rate: 2 },
      'ort-wasm': { rate: 1 },
      'tfjs-webgl': { rate: 3 },
    });
    expect(choice.chosen).toBe('ort-wasm');
    expect(choice.why).toMatch(/^fastest of 3 that agree with ubique: 0\.033 s/);
    expect(ranked.map(({ id }) => id)).toEqual([
      'ort-wasm',
      'ort-webgpu',
      'tfjs-webgl',
      'tfjs-cpu',
    ]);
    expect(choice.expectedSeconds).toBeCloseTo(128 ** 3 / 1e6, 3);
  });

  it('never takes one that gives other numbers, however fast', async () => {
    const { choice } = await choose({
      'planes-wasm': { rate: 0.001, agrees: false, difference: 0.02 },
      'ort-wasm': { rate: 5 },
    });
    expect(choice.chosen).toBe('ort-wasm');
    expect(choice.verdicts[0]).toMatchObject({ state: 'wrong', difference: 0.02 });
    expect(hosts['planes-wasm']?.ended).not.toBeNull();
  });

  it('counts what tiles compute twice', async () => {
    const { choice } = await choose({
      'planes-wasm': { rate: 1.5 },
      'ort-wasm': { rate: 1, layout: { tiles: 8, computedVoxels: 4 * 128 ** 3, peakBytes: 5 } },
    });
    expect(choice.chosen).toBe('planes-wasm');
  });

  it('keeps only the worker of the winner', async () => {
    await choose({ 'planes-wasm': { rate: 2 }, 'ort-wasm': { rate: 1 }, 'tfjs-wasm': { rate: 9 } });
    expect(hosts['ort-wasm']?.ended).toBeNull();
    expect(hosts['planes-wasm']?.ended).not.toBeNull();
    expect(hosts['tfjs-wasm']?.ended).not.toBeNull();
  });

  it('does not wait for one that is much slower than the best so far', async () => {
    const { choice, ranked } = await choose({
      'planes-wasm': { rate: 1 },
      'tfjs-wasm': { rate: 200 },
    });
    expect(choice.verdicts.at(-1)).toMatchObject({ id: 'tfjs-wasm', state: 'unavailable' });
    expect(JSON.stringify(choice.verdicts.at(-1))).toMatch(
      /stopped after .* slower than planes-wasm/,
    );
    expect(ranked.map(({ id }) => id)).toEqual(['planes-wasm', 'tfjs-wasm', 'tfjs-cpu']); // in need
  });

  it('does not wait longer for a download than it could gain', async () => {
    const { choice } = await choose({
      'planes-wasm': { rate: 1 },
      'ort-wasm': { rate: 0.1, loading: 30 },
    });
    expect(choice.chosen).toBe('planes-wasm');
  });

  it('waits for a download when it has nothing else', async () => {
    expect((await choose({ 'ort-wasm': { rate: 0.1, loading: 15 } })).choice.chosen).toBe(
      'ort-wasm',
    );
  });

  it('tries plain JavaScript only when nothing else works', async () => {
    await choose({ 'ort-wasm': {}, 'tfjs-cpu': {} });
    expect(hosts['tfjs-cpu']).toBeUndefined();
    const { choice } = await choose({ 'tfjs-cpu': { rate: 100 } });
    expect(choice.chosen).toBe('tfjs-cpu');
    expect(choice.why).toMatch(/^the only one that agrees/);
  });

  it('tries nothing but what a person asked for', async () => {
    const { choice } = await choose(
      { 'planes-wasm': {}, 'tfjs-wasm': { rate: 4 } },
      { only: ['tfjs-wasm'] },
    );
    expect(choice.chosen).toBe('tfjs-wasm');
    expect(hosts['planes-wasm']).toBeUndefined();
  });

  it('passes over an engine that no division of the volume suits', async () => {
    const { choice } = await choose({
      'planes-wasm': { rate: 1, layout: null },
      'ort-wasm': { rate: 2 },
    });
    expect(choice.chosen).toBe('ort-wasm');
    expect(choice.verdicts[0]).toMatchObject({ state: 'unavailable' });
  });

  it('tells the reasons of all when none can', async () => {
    await expect(choose({ 'ort-wasm': { agrees: false } })).rejects.toThrow(
      /No engine .*planes-wasm: this browser has none.*ort-wasm: gives other numbers/,
    );
  });
});
