// SPDX-License-Identifier: Apache-2.0
// A page without a face: gives the benchmark the runner, with a model fetched from the server that
// serves it.
import { createRunner } from '../../../saliency/src/engines';
import { loadModel } from '../../../saliency/src/models/load';
import type { Size } from '../../../saliency/src/model';
import { makeScene } from '../../../saliency/src/pictures/scene';
import { servedFolder } from '../../../shared/models/folder';

export interface Timing {
  size: Size;
  milliseconds: number[]; // of each look, from pixels to map
}

const runner = createRunner();

/** The engine's title, and the times for every frame that the model offers. */
async function time(folder: string, runs: number): Promise<{ title: string; times: Timing[] }> {
  const model = await loadModel(servedFolder(folder, 'model'));
  const { chosen } = await runner.choose(model, 'ort-wasm');
  const pixels = makeScene(1);
  const times: Timing[] = [];
  for (const size of model.manifest.sizes) {
    const milliseconds: number[] = [];
    for (let i = 0; i <= runs; ++i) {
      const { seconds } = await runner.look(pixels, size, () => true, () => undefined);
      if (i > 0) milliseconds.push(1000 * seconds); // the first warms up
    }
    times.push({ size, milliseconds });
  }
  return { title: chosen.title, times };
}

Object.assign(globalThis, { harness: { time } });
