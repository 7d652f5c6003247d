// SPDX-License-Identifier: Apache-2.0
// The worker's side: holds one engine, checks it, times it and runs it, one request at a time.
import type { Engine, Progress, Volume } from './engine';
import { judge } from './check';
import { EngineFailure } from '../../../shared/engines/faults';
import { answerRequests } from '../../../shared/engines/worker-line';
import type { Layout, Loaded, Request } from './host';
import { createEngine } from './registry';
import { voxelsOf } from './shape';
import { type Plan, haloOf, labelTiles, planTiles } from './tiles';
import type { Manifest, Shape3 } from '../model';

let engine: Engine;
let manifest: Manifest;

async function load(request: Request & { kind: 'load' }): Promise<Loaded | string> {
  const made = await createEngine(request.id, request.model);
  if ('reason' in made) return made.reason;
  engine = made;
  manifest = request.model.manifest;
  const judgement = await judge(engine, request.model);
  return { title: engine.title, silent: engine.silent ?? false, judgement };
}

async function trial(shape: Shape3): Promise<number> {
  const values = Float32Array.from({ length: voxelsOf(shape) }, (_, i) => (i % 1009) / 1009);
  let best = Infinity;
  for (const _ of ['cold', 'warm']) {
    const start = performance.now();
    await engine.labels({ shape, values });
    best = Math.min(best, (performance.now() - start) / 1000);
  }
  return best;
}

function plan(shape: Shape3, memoryLimit: number): Plan | null {
  return planTiles(shape, haloOf(manifest), memoryLimit, (part) => engine.peakBytes(part));
}

function layout(shape: Shape3, memoryLimit: number): Layout | null {
  const found = plan(shape, memoryLimit);
  return found && { ...found, tiles: found.tiles.length };
}

async function segment(
  volume: Volume,
  memoryLimit: number,
  tell: (progress: Progress) => void,
): Promise<Uint8Array> {
  const found = plan(volume.shape, memoryLimit);
  if (found === null) {
    throw new EngineFailure(`no part of the volume fits in ${memoryLimit} bytes`, true);
  }
  return labelTiles(engine, volume, found.tiles, tell);
}

function answer(request: Request, tell: (progress: Progress) => void): unknown {
  switch (request.kind) {
    case 'load':
      return load(request);
    case 'trial':
      return trial(request.shape);
    case 'layout':
      return layout(request.shape, request.memoryLimit);
    case 'segment':
      return segment(request.volume, request.memoryLimit, tell);
  }
}

answerRequests<Request, Progress>(answer, (value) =>
  value instanceof Uint8Array ? [value.buffer] : [],
);
