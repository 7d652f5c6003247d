// SPDX-License-Identifier: Apache-2.0
// A page without a face: gives tests and benchmarks the runner, with models and volumes fetched
// from the server that serves it.
import { createRunner } from '../../../segment/src/engines';
import type { Choice, ChooseOptions, Runner } from '../../../segment/src/engines';
import type { LoadedModel, Progress } from '../../../segment/src/engines';
import type { Manifest, Shape3 } from '../../../segment/src/model';

export interface Outcome {
  choice: Choice;
  engine: string;
  seconds: number[]; // of each run
  tiles: number;
  progress: Progress[];
  fallbacks: string[];
}

const bytesOf = async (path: string) => new Uint8Array(await (await fetch(path)).arrayBuffer());

async function loadModel(folder: string): Promise<LoadedModel> {
  const manifest = (await (await fetch(`${folder}/ubique.json`)).json()) as Manifest;
  const check = await bytesOf(`${folder}/${manifest.check.file}`);
  return {
    manifest,
    onnx: await bytesOf(`${folder}/${manifest.files.onnx}`),
    tfjs: {
      document: await (await fetch(`${folder}/${manifest.files.tfjs}`)).json(),
      weights: await bytesOf(`${folder}/model.bin`),
    },
    check: new Float32Array(check.buffer),
  };
}

function base64(bytes: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(',')[1]);
    reader.readAsDataURL(new Blob([bytes as Uint8Array<ArrayBuffer>]));
  });
}

const runner: Runner = createRunner();
let labels = new Uint8Array();
let steps = 0; // of progress, that were told

async function run(
  folder: string,
  volume: { path: string; shape: Shape3 },
  options: ChooseOptions,
  runs: number,
): Promise<Outcome> {
  const model = await loadModel(folder);
  const values = new Float32Array((await bytesOf(volume.path)).buffer);
  const choice = await runner.choose(model, volume.shape, options);
  const outcome: Outcome = {
    choice,
    engine: '',
    seconds: [],
    tiles: 0,
    progress: [],
    fallbacks: [],
  };
  for (let i = 0; i < runs; ++i) {
    const done = await runner.segment(
      { shape: volume.shape, values },
      (step) => (steps = outcome.progress.push(step)),
      (from, to, reason) => outcome.fallbacks.push(`${from} > ${to}: ${reason}`),
    );
    labels = done.labels as Uint8Array<ArrayBuffer>;
    outcome.seconds.push(done.seconds);
    Object.assign(outcome, { engine: done.engine, tiles: done.tiles });
  }
  return outcome;
}

const harness = {
  run,
  labels: () => base64(labels),
  cancel: () => runner.cancel(),
  running: () => steps > 0,
};
export type Harness = typeof harness;
Object.assign(globalThis, { harness });
