// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { Cancelled } from '../../shared/engines/faults';
import type { EngineId, Progress } from '../../segment/src/engines/engine';
import { failureOf } from '../../shared/engines/faults';
import { EngineRunner } from '../../segment/src/engines/runner';
import type { Shape3 } from '../../segment/src/model';
import { FakeHost, type Part } from './fake-host';
import { noiseVolume, toyModel } from './toy-network';

const SHAPE: Shape3 = [8, 8, 8];
const volume = noiseVolume(SHAPE);

/** A runner of fakes, and every worker that it opened. */
function runnerOf(parts: Partial<Record<EngineId, Part>>) {
  const opened: [EngineId, FakeHost][] = [];
  const runner = new EngineRunner((id) => {
    const host = new FakeHost(parts[id] ?? { unavailable: 'none here' });
    opened.push([id, host]);
    return host;
  });
  const hostsOf = (id: EngineId) => opened.filter(([name]) => name === id).map(([, host]) => host);
  return { runner, hostsOf };
}

describe('a run', () => {
  it('uses the worker that the choice left warm', async () => {
    const { runner, hostsOf } = runnerOf({ 'ort-wasm': {} });
    await runner.choose(toyModel(), SHAPE);
    const result = await runner.segment(volume, () => undefined);
    expect(result).toMatchObject({ engine: 'ort-wasm', tiles: 1 });
    expect(result.labels).toHaveLength(512);
    expect(hostsOf('ort-wasm')).toHaveLength(1);
  });

  it('hands over to the next best when memory ends, with half of it and the reason', async () => {
    const failure = failureOf(new RangeError('Array buffer allocation failed'));
    const { runner, hostsOf } = runnerOf({
      'planes-wasm': { rate: 1, failure },
      'ort-wasm': { rate: 2 },
    });
    await runner.choose(toyModel(), SHAPE, { memoryLimit: 1000 });
    const told: string[] = [];
    const result = await runner.segment(
      volume,
      () => undefined,
      (...words) => told.push(words.join(' ')),
    );
    expect(result.engine).toBe('ort-wasm');
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^planes-wasm ort-wasm the memory did not suffice/);
    expect(hostsOf('planes-wasm')[0].ended).not.toBeNull();
    expect(hostsOf('ort-wasm').at(-1)?.limits).toEqual([500]);
  });

  it('keeps the memory limit when a graphics device is lost', async () => {
    const failure = failureOf(new Error('WebGL context lost'));
    const { runner, hostsOf } = runnerOf({
      'tfjs-webgl': { rate: 1, failure },
      'tfjs-wasm': { rate: 2 },
    });
    await runner.choose(toyModel(), SHAPE, { memoryLimit: 1000 });
    await runner.segment(volume, () => undefined);
    expect(hostsOf('tfjs-wasm').at(-1)?.limits).toEqual([1000]);
  });

  it('hands over to an engine that was too slow to be chosen, once it agrees', async () => {
    const { runner, hostsOf } = runnerOf({
      'ort-webgpu': { rate: 1, failure: new Error('device lost') },
      'ort-wasm': { rate: 5000, silent: true },
    });
    await runner.choose(toyModel(), SHAPE);
    expect((await runner.segment(volume, () => undefined)).engine).toBe('ort-wasm');
    expect(hostsOf('ort-wasm')).toHaveLength(2);
  });

  it('ends with all the reasons when the last engine fails', async () => {
    const { runner } = runnerOf({ 'ort-wasm': { failure: new Error('device is lost') } });
    await runner.choose(toyModel(), SHAPE);
    await expect(runner.segment(volume, () => undefined)).rejects.toThrow(
      /could not be segmented. ort-wasm: .*graphics device away.*; tfjs-cpu: none here/,
    );
  });

  it('is over at once when cancelled, and can be started again', async () => {
    const part: Part = { busy: true };
    const { runner, hostsOf } = runnerOf({ 'ort-wasm': part });
    await runner.choose(toyModel(), SHAPE);
    const running = runner.segment(volume, () => undefined);
    setTimeout(() => runner.cancel(), 10);
    await expect(running).rejects.toBeInstanceOf(Cancelled);
    part.busy = false;
    expect((await runner.segment(volume, () => undefined)).engine).toBe('ort-wasm');
    expect(hostsOf('ort-wasm')).toHaveLength(2);
  });

  it('can be cancelled while engines are still being tried', async () => {
    const { runner } = runnerOf({ 'ort-wasm': { loading: 10 } });
    const choosing = runner.choose(toyModel(), SHAPE);
    setTimeout(() => runner.cancel(), 10);
    await expect(choosing).rejects.toBeInstanceOf(Cancelled);
    await expect(runner.segment(volume, () => undefined)).rejects.toThrow(/choose\(\) first/);
  });

  it('gives up one choice for the next', async () => {
    const { runner, hostsOf } = runnerOf({ 'ort-wasm': { loading: 0.1 } });
    const first = expect(runner.choose(toyModel(), SHAPE)).rejects.toBeInstanceOf(Cancelled);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await runner.choose(toyModel(), SHAPE)).chosen).toBe('ort-wasm');
    await first;
    expect(hostsOf('ort-wasm')).toHaveLength(2);
  });

  it('tells progress that grows and is never all', async () => {
    const progress = [1, 3, 2, 4].map((done) => ({ done, total: 4, what: 'layer' }));
    const { runner } = runnerOf({ 'tfjs-wasm': { progress } });
    await runner.choose(toyModel(), SHAPE);
    const told: Progress[] = [];
    await runner.segment(volume, (step) => told.push(step));
    expect(told.map(({ done }) => done)).toEqual([1, 3]);
  });
});
