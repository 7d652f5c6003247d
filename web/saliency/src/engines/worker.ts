// SPDX-License-Identifier: Apache-2.0
// The worker's side: holds one engine, checks it, times it and looks at pictures with it.
import { answerRequests } from '../../../shared/engines/worker-line';
import { prepare } from '../images/frame';
import type { Pixels } from '../images/raster';
import { type Manifest, type Size, areaOf } from '../model';
import { engineAgrees, largestDifference } from './check';
import type { Engine, Loaded, Look, Request } from './engine';
import { createEngine } from './ort';

let engine: Engine;
let manifest: Manifest;

const now = () => performance.now() / 1000;

async function load({ id, model }: Request & { kind: 'load' }): Promise<Loaded | string> {
  const made = await createEngine(id, model);
  if (typeof made === 'string') return made;
  engine = made;
  manifest = model.manifest;
  const map = await engine.map(model.check.input, manifest.check.shape);
  const difference = largestDifference(map, model.check.map);
  return { title: engine.title, difference, agrees: engineAgrees(difference, manifest) };
}

async function trial(size: Size): Promise<number> {
  const frame = Float32Array.from({ length: 3 * areaOf(size) }, (_, i) => i % 256);
  let best = Infinity;
  for (const _ of ['cold', 'warm']) {
    const start = now();
    await engine.map(frame, size);
    best = Math.min(best, now() - start);
  }
  return best;
}

async function look(pixels: Pixels, size: Size): Promise<Look> {
  const start = now();
  const values = await engine.map(prepare(pixels, size, manifest.pad), size);
  const [height, width] = size;
  return { map: { width, height, values }, seconds: now() - start };
}

function answer(request: Request): unknown {
  switch (request.kind) {
    case 'load':
      return load(request);
    case 'trial':
      return trial(request.size);
    case 'look':
      return look(request.pixels, request.size);
  }
}

answerRequests<Request>(answer, () => []);
