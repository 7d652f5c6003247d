// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import type { Engine, Progress } from '../../segment/src/engines/engine';
import { copyBox, extentOf, voxelsOf } from '../../segment/src/engines/shape';
import { createTfjsCpuEngine } from '../../segment/src/engines/tfjs-cpu';
import { type Tile, haloOf, labelTiles, planTiles, within } from '../../segment/src/engines/tiles';
import type { Shape3 } from '../../segment/src/model';
import { noiseVolume, toyModel } from './toy-network';

const bytes = (shape: Shape3) => 40 * voxelsOf(shape);

async function toyEngine(): Promise<Engine> {
  const engine = await createTfjsCpuEngine(toyModel());
  if ('reason' in engine) throw new Error(engine.reason);
  return engine;
}

function coverage(tiles: Tile[], shape: Shape3): Uint8Array {
  const counts = new Uint8Array(voxelsOf(shape));
  for (const { core } of tiles) {
    const extent = extentOf(core);
    const before = new Uint8Array(voxelsOf(extent));
    copyBox(counts, shape, core, before, extent, [0, 0, 0]);
    const after = before.map((count) => count + 1);
    copyBox(after, extent, { start: [0, 0, 0], end: extent }, counts, shape, core.start);
  }
  return counts;
}

describe('the plan of tiles', () => {
  it('leaves a volume whole that fits', () => {
    const plan = planTiles([256, 256, 256], 61, Infinity, bytes);
    expect(plan?.tiles).toHaveLength(1);
    expect(plan?.computedVoxels).toBe(256 ** 3);
  });

  it.each([
    [[40, 40, 40], 3, 16 ** 3],
    [[31, 57, 20], 5, 25 ** 3],
    [[256, 256, 256], 61, 180 ** 3],
    [[256, 200, 130], 61, 150 ** 3],
  ] as [Shape3, number, number][])(
    'covers %j with halo %i once and within memory',
    (shape, halo, most) => {
      const plan = planTiles(shape, halo, bytes([1, 1, most]) + voxelsOf(shape) * 9, bytes);
      if (!plan) throw new Error('no plan');
      expect(plan.tiles.length).toBeGreaterThan(1);
      expect(coverage(plan.tiles, shape).every((count) => count === 1)).toBe(true);
      for (const { core, input } of plan.tiles) {
        expect(voxelsOf(extentOf(input))).toBeLessThanOrEqual(most);
        for (const axis of [0, 1, 2]) {
          expect(input.start[axis]).toBe(Math.max(0, core.start[axis] - halo));
          expect(input.end[axis]).toBe(Math.min(shape[axis], core.end[axis] + halo));
        }
      }
    },
  );

  it('computes less twice the more memory there is', () => {
    const computed = [150, 180, 220].map(
      (side) =>
        planTiles([256, 256, 256], 61, bytes([side, side, side]) + 256 ** 3 * 9, bytes)
          ?.computedVoxels,
    );
    expect(computed[0]).toBeGreaterThan(computed[1] as number);
    expect(computed[1]).toBeGreaterThan(computed[2] as number);
  });

  it('says that nothing fits when even the smallest part does not', () => {
    expect(planTiles([256, 256, 256], 61, bytes([100, 100, 100]), bytes)).toBeNull();
  });

  it('never divides a network that looks at the whole volume', () => {
    expect(haloOf(toyModel('instance').manifest)).toBeNull();
    expect(planTiles([64, 64, 64], null, bytes([63, 64, 64]), bytes)).toBeNull();
  });
});

describe('a volume in tiles', () => {
  const shape: Shape3 = [15, 18, 21];
  const volume = noiseVolume(shape);
  const halo = haloOf(toyModel().manifest);
  const plan = planTiles(shape, halo, bytes([12, 12, 12]) + voxelsOf(shape) * 9, bytes);
  const tiles = plan?.tiles ?? [];

  it('has the logits of the whole volume', async () => {
    const engine = await toyEngine();
    const classes = 3;
    const whole = await engine.logits(volume); // (classes, D, H, W)
    expect(tiles.length).toBeGreaterThan(7);
    let worst = 0;
    for (const tile of tiles) {
      const part = extentOf(tile.input);
      const values = new Float32Array(voxelsOf(part));
      copyBox(volume.values, shape, tile.input, values, part, [0, 0, 0]);
      const logits = await engine.logits({ shape: part, values });
      const size = voxelsOf(extentOf(tile.core));
      for (let c = 0; c < classes; ++c) {
        const [a, b] = [new Float32Array(size), new Float32Array(size)];
        const of = (all: Float32Array, from: Shape3) =>
          all.subarray(c * voxelsOf(from), (c + 1) * voxelsOf(from));
        copyBox(of(whole, shape), shape, tile.core, a, extentOf(tile.core), [0, 0, 0]);
        copyBox(of(logits, part), part, within(tile), b, extentOf(tile.core), [0, 0, 0]);
        a.forEach((value, i) => (worst = Math.max(worst, Math.abs(value - b[i]))));
      }
    }
    expect(worst).toBeLessThan(1e-6);
  });

  it('has the labels of the whole volume and tells progress that never is all', async () => {
    const engine = await toyEngine();
    const told: Progress[] = [];
    const labels = await labelTiles(engine, volume, tiles, (progress) => told.push(progress));
    expect(labels).toEqual(await engine.labels(volume));
    const parts = told.map(({ done, total }) => done / total);
    expect(parts.length).toBeGreaterThan(tiles.length);
    expect(parts.every((part, i) => part < 1 && (i === 0 || part >= parts[i - 1]))).toBe(true);
  });

  it('would differ with a halo one voxel too small', async () => {
    const engine = await toyEngine();
    const short = planTiles(
      shape,
      (halo ?? 0) - 1,
      bytes([10, 10, 10]) + voxelsOf(shape) * 9,
      bytes,
    );
    const labels = await labelTiles(engine, volume, short?.tiles ?? [], () => undefined);
    expect(labels).not.toEqual(await engine.labels(volume));
  });
});
