// SPDX-License-Identifier: Apache-2.0
// Which engine is chosen, and what happens when one fails, with engines that only pretend.
import { describe, expect, test } from 'vitest';
import type { EngineHost, EngineId, Loaded, Look } from '../../saliency/src/engines/engine';
import { LookRunner } from '../../saliency/src/engines/runner';
import type { LoadedModel, Size } from '../../saliency/src/model';
import { Cancelled, EngineFailure } from '../../shared/engines/faults';

const model = { manifest: { sizes: [[48, 64]] as Size[] } } as LoadedModel;
const pixels = { width: 1, height: 1, data: new Uint8ClampedArray(4) };
const wanted = () => true;
const nobody = () => undefined;

interface Part {
  seconds?: number;
  agrees?: boolean;
  missing?: string;
  failure?: Error;
  waits?: boolean; // for ever
}

class PretendHost implements EngineHost {
  ended: Error | null = null;
  looks = 0;
  private reject: (reason: Error) => void = nobody;

  constructor(private readonly part: Part) {}

  load(): Promise<Loaded | string> {
    const { agrees = true, missing } = this.part;
    return Promise.resolve(missing ?? { title: 'pretended', difference: 0, agrees });
  }

  trial(): Promise<number> {
    return Promise.resolve(this.part.seconds ?? 1);
  }

  look(_: unknown, [height, width]: Size): Promise<Look> {
    this.looks += 1;
    if (this.part.failure) return Promise.reject(this.part.failure);
    if (this.part.waits) return new Promise((_resolve, reject) => (this.reject = reject));
    const values = new Float32Array(height * width);
    return Promise.resolve({ map: { width, height, values }, seconds: 0.1 });
  }

  end(reason: Error): void {
    this.ended ??= reason;
    this.reject(reason);
  }
}

function runnerOf(parts: Partial<Record<EngineId, Part>>) {
  const hosts: [EngineId, PretendHost][] = [];
  const runner = new LookRunner((id) => {
    const host = new PretendHost(parts[id] ?? { missing: 'not here' });
    hosts.push([id, host]);
    return host;
  });
  const hostsOf = (id: EngineId) => hosts.filter(([each]) => each === id).map(([, host]) => host);
  return { runner, hostsOf };
}

describe('the engine', () => {
  test('is the fastest that agrees with ubique, and the others are ended', async () => {
    const { runner, hostsOf } = runnerOf({
      'ort-webgpu': { seconds: 2 }, 'ort-wasm': { seconds: 1 },
    });
    const { chosen, verdicts } = await runner.choose(model);
    expect(chosen.id).toBe('ort-wasm');
    expect(verdicts.map(({ state }) => state)).toEqual(['ready', 'ready']);
    expect(hostsOf('ort-webgpu')[0].ended).not.toBeNull();
    expect(hostsOf('ort-wasm')[0].ended).toBeNull();
  });

  test('is not one that gives other maps, or that is not there', async () => {
    const { runner } = runnerOf({ 'ort-webgpu': { seconds: 0.1, agrees: false }, 'ort-wasm': {} });
    const { chosen, verdicts } = await runner.choose(model);
    expect(chosen.id).toBe('ort-wasm');
    expect(verdicts[0].state).toBe('wrong');
    const none = runnerOf({ 'ort-wasm': { agrees: false } }).runner;
    await expect(none.choose(model)).rejects.toThrow(
      /ort-webgpu: not here; ort-wasm: gives other maps than ubique/,
    );
  });

  test('that loses its device hands over to the next, with the reason', async () => {
    const failure = new EngineFailure('the device is gone', false);
    const { runner, hostsOf } = runnerOf({
      'ort-webgpu': { seconds: 0.1, failure }, 'ort-wasm': { seconds: 1 },
    });
    await runner.choose(model);
    const told: string[] = [];
    const tell = (...words: string[]) => void told.push(words.join(' > '));
    const { map } = await runner.look(pixels, [48, 64], wanted, tell);
    expect(map.values.length).toBe(48 * 64);
    expect(told).toEqual(['ort-webgpu > ort-wasm > the device is gone']);
    await runner.look(pixels, [48, 64], wanted, tell);
    expect(told).toHaveLength(1);
    expect(hostsOf('ort-wasm').at(-1)?.looks).toBe(2);
  });

  test('that fails with nobody after it is told with what to do', async () => {
    const { runner } = runnerOf({ 'ort-wasm': { failure: new Error('device is lost') } });
    await runner.choose(model);
    await expect(runner.look(pixels, [48, 64], wanted, nobody)).rejects.toThrow(
      /took the graphics device away.*Choose the model again/,
    );
  });
});

describe('looks', () => {
  test('wait for each other, and those no longer wanted are left out', async () => {
    const { runner, hostsOf } = runnerOf({ 'ort-wasm': {} });
    await runner.choose(model);
    const first = runner.look(pixels, [48, 64], wanted, nobody);
    const second = runner.look(pixels, [48, 64], () => false, nobody);
    const third = runner.look(pixels, [72, 96], wanted, nobody);
    await expect(second).rejects.toBeInstanceOf(Cancelled);
    expect((await first).map.height).toBe(48);
    expect((await third).map.height).toBe(72);
    expect(hostsOf('ort-wasm')[0].looks).toBe(2);
  });

  test('end when another model is chosen', async () => {
    const { runner } = runnerOf({ 'ort-wasm': { waits: true } });
    await runner.choose(model);
    const look = runner.look(pixels, [48, 64], wanted, nobody);
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    runner.cancel();
    await expect(look).rejects.toBeInstanceOf(Cancelled);
  });
});
