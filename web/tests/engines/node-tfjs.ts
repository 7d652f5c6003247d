// SPDX-License-Identifier: Apache-2.0
// TensorFlow.js under Node, with the page's own engine around it, and models that ubique wrote.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-wasm';
import type { Engine, LoadedModel } from '../../segment/src/engines/engine';
import { createTfjsEngine } from '../../segment/src/engines/tfjs';
import { scratchFolder, ubique } from '../scans/ubique';
import { toyModel } from './toy-network';

export interface LayersDocument {
  weightsManifest: { paths: string[] }[];
  userDefinedMetadata?: Record<string, string>;
}

/** What `ubique export --format tfjs` writes of a network. */
export function exportTfjs(network: string, ...options: string[]) {
  const folder = join(scratchFolder(), 'model');
  const words = ['--model', network, '--format', 'tfjs', ...options, '-o', folder];
  ubique('export', 'meshnet', ...words);
  const document = JSON.parse(
    readFileSync(join(folder, 'model.json'), 'utf8'),
  ) as LayersDocument;
  const weights = new Uint8Array(readFileSync(join(folder, document.weightsManifest[0].paths[0])));
  return { document, weights };
}

export function loaded(tfjs: { document: LayersDocument; weights: Uint8Array }): LoadedModel {
  return { ...toyModel(), tfjs };
}

export async function engineFor(model: LoadedModel): Promise<Engine> {
  if (!(await tf.setBackend('wasm'))) throw new Error('TensorFlow.js has no WebAssembly here');
  return createTfjsEngine(model, {
    id: 'tfjs-wasm',
    title: 'TensorFlow.js under Node',
    peakBytes: () => 0,
  });
}
